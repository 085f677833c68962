import { LockAbortedError } from '../../../lock/errors.js';
import { isAboutTheLink, SessionError } from '../../../session/errors.js';
import { PatientLink } from '../../../session/patient-link.js';
import { type Outcome, remove, type Request } from '../../../session/requests.js';
import type { Session } from '../../../session/session.js';

/** The name of a node that never is. */
const NEVER_THERE = '.never-there';
/** At most this many requests go together: enough to keep a server busy for a round trip, and little beside what locks send meanwhile. */
export const READS_AT_ONCE = 500;

/** Reads any number of nodes, some at a time. What a broken link took along is read again. */
export class ManyReads {
  /** @param waitMs how long the answers to one batch are waited for */
  constructor(
    private readonly session: Session,
    private readonly root: string,
    private readonly waitMs: number,
    private readonly signal: AbortSignal | undefined,
  ) {}

  /** Resolves when a majority has answered: what is read then shows everything that had been written by now. */
  async catchUp(): Promise<void> {
    // A server that was cut off answers reads, and this write not. A refusal is an answer as well.
    await this.answers([remove(`${this.root === '/' ? '' : this.root}/${NEVER_THERE}`)]);
  }

  /**
   * @param onAnswers told how many answers have come since the last time
   * @returns the outcome of each request: an answer, or the server's refusal
   * @throws LockUnavailableError, LockClosedError, LockAbortedError
   */
  async answers<R extends Request>(requests: readonly R[], onAnswers?: (count: number) => void): Promise<Outcome<R>[]> {
    const outcomes: Outcome<R>[] = [];
    for (let from = 0; from < requests.length; from += READS_AT_ONCE) {
      const batch = await this.#batch(requests.slice(from, from + READS_AT_ONCE));
      for (const outcome of batch) outcomes.push(outcome);
      onAnswers?.(batch.length);
    }
    return outcomes;
  }

  async #batch<R extends Request>(requests: readonly R[]): Promise<Outcome<R>[]> {
    const link = new PatientLink(this.session, this.root, this.waitMs);
    const outcomes = new Map<R, Outcome<R>>();
    for (let left = requests; left.length > 0;) {
      await this.#unlessAborted(link.untilUp());
      const answered = await this.#unlessAborted(link.send(left, 'look'));
      answered.forEach((outcome, index) => outcomes.set(left[index]!, outcome));
      left = left.filter((request) => {
        const outcome = outcomes.get(request);
        return outcome instanceof SessionError && isAboutTheLink(outcome);
      });
      if (left.length > 0 && this.session.isClosing) throw link.closed();
    }
    return requests.map((request) => outcomes.get(request)!);
  }

  async #unlessAborted<T>(waiting: Promise<T>): Promise<T> {
    const { signal } = this;
    if (signal === undefined) return waiting;
    let abort: () => void = () => undefined;
    const aborted = new Promise<never>((_resolve, reject) => {
      abort = (): void =>
        reject(new LockAbortedError('The reading of locks was cancelled', undefined, { cause: signal.reason }));
      if (signal.aborted) abort();
      else signal.addEventListener('abort', abort, { once: true });
    });
    try {
      return await Promise.race([aborted, waiting]);
    } finally {
      signal.removeEventListener('abort', abort);
      // The one that lost the race may fail later.
      waiting.catch(() => undefined);
    }
  }
}
