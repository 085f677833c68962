import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { Accounts } from './accounts.js';
import { audit, type Verdict } from './audit.js';
import type { RawRecord } from './raw-record.js';
import { type Step, STEPS_OF_TRANSFER, type WhenToDie } from './steps.js';
import { Transferring } from './transferring.js';

const EACH = 10_000;
export const TOTAL = 2 * EACH;
const MOST_TRANSFERS = 3;
const LONGEST_MS = 60;
/** Where a process kills itself. */
const OF_TRANSFER: readonly Step[] = ['asked', ...STEPS_OF_TRANSFER];

/** Where there is something to repair: who died had noted what the balances were to be. */
const REPAIRED_ONE: Step = 'repaired one';

export interface TillParts {
  readonly script: string;
  readonly folder: string;
  readonly connect: string;
  readonly sessionMs: number;
  readonly tickMs: number;
  /** Whether who comes after one that died repairs what that one has left. */
  readonly recovers: boolean;
  /** Where the first ones die, so that no play is without such deaths. */
  readonly begin: readonly Step[];
}

/** Two accounts and the key that guards them: one process after the other transfers money there, and is killed. */
export class Till {
  readonly verdicts: Verdict[] = [];
  /** The money in the accounts, as each process found it when it had entered, and in the end. */
  readonly sums: number[] = [];
  readonly #accounts: Accounts;
  #next: Transferring | undefined;
  #present: Transferring | undefined;
  #record: RawRecord = {};
  #processes = 0;

  private constructor(
    readonly key: string,
    private readonly parts: TillParts,
    private readonly place: string,
  ) {
    this.#accounts = new Accounts(place);
  }

  static async open(key: string, parts: TillParts): Promise<Till> {
    const place = join(parts.folder, key);
    await mkdir(place, { recursive: true });
    const till = new Till(key, parts, place);
    for (const account of ['one', 'other'] as const) till.#accounts.write(account, EACH);
    return till;
  }

  /** The next process is there, and waits to begin. */
  async prepare(): Promise<void> {
    const { script, connect, sessionMs, tickMs, recovers } = this.parts;
    const args = [connect, String(sessionMs), String(tickMs), this.key, this.place, recovers ? 'recovers' : 'does not'];
    this.#processes += 1;
    this.#next = await Transferring.start(script, args, join(this.place, `diary-${this.#processes}`));
  }

  /** It transfers until it is killed at a random point: by itself at some step, or by us at some time. */
  async playToDeath(): Promise<void> {
    const step = this.#chooseStep();
    const present = this.#enter();
    // There is a recovery in front of the first transfer only.
    const when = step && { step, transfer: OF_TRANSFER.includes(step) ? 1 + random(MOST_TRANSFERS) : 1 };
    await present.begin(when);
    if (when === undefined) {
      await pause(Math.random() * LONGEST_MS);
      await present.kill();
    }
    await present.untilEnded();
  }

  /** It transfers once, and ends in good order. */
  async playToTheEnd(): Promise<void> {
    const present = this.#enter();
    await present.begin({ step: 'leaves', transfer: 1 } satisfies WhenToDie);
    await present.untilEnded();
    this.sums.push(this.#accounts.sum());
  }

  /** @param after what the record says when the process and its session are gone */
  async close(after: RawRecord): Promise<void> {
    const { pid } = this.#present!;
    const entries = await this.#present!.entries();
    this.sums.push(...entries.filter(({ step }) => step === 'enters').map(({ facts }) => Number(facts[0])));
    const passage = { pid, before: this.#record, after, entries };
    this.#record = after;
    if (!this.parts.recovers) return;
    const verdict = audit(passage);
    if (verdict.faults.length > 0)
      throw new Error(`${this.key}: ${JSON.stringify({ ...verdict, ...passage }, undefined, 1)}`);
    this.verdicts.push(verdict);
  }

  async kill(): Promise<void> {
    await this.#present?.kill();
    await this.#next?.kill();
  }

  #enter(): Transferring {
    this.#present = this.#next!;
    this.#next = undefined;
    return this.#present;
  }

  /** undefined: it is killed at some time. */
  #chooseStep(): Step | undefined {
    const steps = this.#stepsToCome();
    const planned = this.parts.begin[this.#processes - 1];
    if (planned !== undefined && steps.includes(planned)) return planned;
    return Math.random() < 0.5 ? undefined : steps[random(steps.length)];
  }

  #stepsToCome(): readonly Step[] {
    const { inside, abandoned = inside } = this.#record;
    if (!this.parts.recovers || abandoned === undefined) return OF_TRANSFER;
    const ofRecovery: readonly Step[] = ['recovers', 'repaired'];
    return [...ofRecovery, ...(abandoned.checkpoint === undefined ? [] : [REPAIRED_ONE]), ...OF_TRANSFER];
  }
}

function random(count: number): number {
  return Math.floor(Math.random() * count);
}
