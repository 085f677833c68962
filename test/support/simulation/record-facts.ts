import type { AbandonedPolicy } from '../../../lib/lock/abandoned.js';
import type { Judge } from './judge.js';
import type { RareState } from './rare-states.js';
import type { RecordCall, Told } from './record-calls.js';
import { strictest } from './record-draws.js';
import type { Found } from './recorded-holds.js';
import type { RecordTruth } from './record-truth.js';

/** The calls that ask something of records, and whether what is told of their contenders is so. */
export class RecordFacts {
  readonly #calls = new Map<string, RecordCall>();

  constructor(
    private readonly judge: Judge,
    private readonly truth: RecordTruth,
    private readonly reached: (state: RareState) => void,
  ) {}

  called(call: RecordCall): void {
    this.#calls.set(call.label, call);
  }

  callWith(label: string | undefined): RecordCall | undefined {
    return label === undefined ? undefined : this.#calls.get(label);
  }

  /** What a call has to do where it finds these. */
  policyFor(call: RecordCall | undefined, { holder, recoverer }: Found): AbandonedPolicy {
    const tokens = recoverer === undefined ? [holder] : [holder, recoverer];
    const calls = tokens.map((token) => this.callWith(this.truth.labelOf(token)));
    return strictest(...[call, ...calls].map((one) => one?.wish.policy ?? 'enter'));
  }

  /** @param process of the contender that was told of; undefined where it never entered */
  check(name: string, told: Told | NonNullable<Told['recoverer']>, process: string | undefined): void {
    const label = this.truth.labelOf(told.token);
    const call = this.callWith(label);
    if (told.label !== label) this.#blame(`${name} was told of ${told.label}, which was ${label}`);
    if (process !== undefined && told.host !== process)
      this.#blame(`${name} was told of a holder of ${told.host}, which was of ${process}`);
    const wrong = call?.whyWrong(told.token, told.checkpoint);
    if (wrong !== undefined) this.#blame(`${name} was told wrongly of ${call?.label}: ${wrong}`);
    const { number } = (told.checkpoint ?? {}) as { readonly number?: number };
    if (number !== undefined && number > (call?.checkpointsOf(told.token).confirmed ?? 0))
      this.reached('a checkpoint was told that was never confirmed');
  }

  #blame(text: string): void {
    this.judge.blame('recovered once', text);
  }
}
