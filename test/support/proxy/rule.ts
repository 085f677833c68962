import { Gate } from './gate.js';

export interface RuleHandle<Subject> {
  /** The fault has happened: the request, reply or notification in question is held, lost, changed or observed. */
  readonly seen: Promise<Subject>;
  /** How many requests (or notifications) fitted the description so far, acted upon or not. */
  readonly matches: number;
  /** Lets go what is held, and acts no more. */
  release(): void;
}

/** Which of those that fit the description: the first, the second, ... or all of them. */
export type Nth = number | 'every';

/** One thing that a test wants to happen to the n-th of something. */
export class Rule<Subject, Action> implements RuleHandle<Subject> {
  readonly seen: Promise<Subject>;
  matches = 0;
  private readonly gates = new Set<Gate>();
  private released = false;
  private resolveSeen: (subject: Subject) => void = () => undefined;
  private rejectSeen: (reason: Error) => void = () => undefined;

  constructor(
    readonly action: Action,
    private readonly fits: (subject: Subject) => boolean,
    private readonly nth: Nth,
  ) {
    this.seen = new Promise<Subject>((resolve, reject) => {
      this.resolveSeen = resolve;
      this.rejectSeen = reject;
    });
    // Most tests wait for it; one that does not must not fail with an unhandled rejection when the proxy stops.
    this.seen.catch(() => undefined);
  }

  /** Counts `subject` when it fits; true when it is the one to act upon. */
  takes(subject: Subject): boolean {
    if (this.released || !this.fits(subject)) return false;
    this.matches += 1;
    return this.nth === 'every' || this.matches === this.nth;
  }

  happened(subject: Subject): void {
    this.resolveSeen(subject);
  }

  /** Something is to be held until the release. */
  newGate(): Gate {
    const gate = new Gate();
    if (this.released) gate.open();
    else this.gates.add(gate);
    return gate;
  }

  release(): void {
    this.released = true;
    for (const gate of this.gates) gate.open();
    this.gates.clear();
  }

  /** It will not happen any more. */
  abandon(reason: Error): void {
    this.release();
    this.rejectSeen(reason);
  }
}
