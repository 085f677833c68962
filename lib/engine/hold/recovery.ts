import type { AcquireOptions } from '../../lock/acquire-options.js';
import { LockConfigurationError } from '../../lock/errors.js';
import { InTurn } from '../../lock/in-turn.js';
import { failedWith, isAboutTheLink, SessionError } from '../../session/errors.js';
import { check, multi } from '../../session/requests.js';
import { frameFor, type LockEvents, type OwnedLock, runInFrame } from '../bounds/owner-context.js';
import { refusal } from '../error-texts.js';
import type { RecordEntry } from '../record-entry.js';
import { Wait } from '../wait.js';
import { releaseBehind, untilDoneOrLost } from './held-lock.js';
import type { HoldParts } from './hold-parts.js';
import type { Hold } from './hold.js';

/** Writes of a holder into the record of its key, one after the other. Each is carried out only while the holder's node is there. */
export class RecordWrites {
  readonly #parts: HoldParts;
  readonly #hold: Hold;
  readonly #turns = new InTurn();

  constructor(parts: HoldParts, hold: Hold) {
    this.#parts = parts;
    this.#hold = hold;
  }

  checkpoint(checkpoint: unknown): Promise<void> {
    const entry = this.#entry();
    return this.#turns.run(this.#hold.request.key, () => this.#write(entry, { checkpoint }));
  }

  /** Must be called when the leftovers of the holder before this one are repaired. */
  async recovered(): Promise<void> {
    const entry = this.#entry();
    await this.#turns.run(this.#hold.request.key, () => this.#write(entry, { abandoned: undefined }));
    entry.recovered();
  }

  #entry(): RecordEntry {
    const { record, request } = this.#hold.contender;
    // An upgrade that is not done, or has failed and is being undone, has an entry that is not the holder's.
    if (record !== undefined && this.#hold.mode !== 'upgradeable') return record;
    const text = `The lock ${request.key} has no record for a checkpoint: acquire it with onAbandoned, and not as a reader`;
    throw new LockConfigurationError(text, request.key);
  }

  async #write(entry: RecordEntry, changes: Parameters<RecordEntry['change']>[0]): Promise<void> {
    const { session, link } = this.#parts;
    const { contender, request } = this.#hold;
    const lost = this.#hold.lossError();
    if (lost !== undefined) throw lost;
    const wait = new Wait();
    const stopListening = this.#hold.onEnd((error) => wait.end(error()));
    try {
      for (;;) {
        await link.whenUp(wait);
        // Nobody else writes to the record while this node is there, so the same change may be sent again after a lost answer.
        const [written] = await wait.guard(session.batch([multi([check(contender.path), entry.change(changes)])]));
        if (!(written instanceof SessionError)) {
          const { stat } = written.at(-1) as Extract<(typeof written)[number], { op: 'set' }>;
          return entry.changed(stat);
        }
        if (failedWith(written, 'NO_NODE')) this.#hold.lose('removed');
        const lostNow = this.#hold.lossError();
        if (lostNow !== undefined) throw lostNow;
        if (!isAboutTheLink(written)) throw refusal(written, request.key);
      }
    } finally {
      stopListening();
    }
  }
}

/**
 * Repairs what a holder that vanished inside has left, by the function of the call that has the lock now. Calls in the function share
 * the lock. If it fails, the lock is released with the record as it was found, so that the next one recovers.
 */
export async function recover(
  lock: OwnedLock<Hold>,
  { recover: repair }: AcquireOptions,
  service: object,
  { events }: { readonly events: LockEvents },
): Promise<void> {
  if (repair === undefined) return;
  const { hold, handle } = lock;
  let repairing: Promise<unknown> | undefined;
  try {
    repairing = runInFrame(frameFor(service, hold.request.owner, [lock]), () => repair(handle));
    await untilDoneOrLost(repairing, hold, events);
    await hold.recordWrites.recovered();
  } catch (error) {
    // Where an operator has broken the lock, the function still keeps others out until it has ended.
    void releaseBehind(repairing, lock);
    throw error;
  }
}
