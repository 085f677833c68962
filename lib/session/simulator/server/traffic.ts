import type { LinkRequest } from '../../core/link.js';

/** The requests of clients to an ensemble, counted where they arrive. */
export class Traffic {
  readonly #requests = new Map<LinkRequest['op'], number>();
  /** Is called with the session that a watch event is sent to. */
  onTold: (sessionId: bigint) => void = () => undefined;
  #events = 0;

  /** How many watch events were sent. */
  get events(): number {
    return this.#events;
  }

  count(op: LinkRequest['op']): void {
    this.#requests.set(op, this.requests(op) + 1);
  }

  told(sessionId: bigint): void {
    this.#events += 1;
    this.onTold(sessionId);
  }

  requests(op: LinkRequest['op']): number {
    return this.#requests.get(op) ?? 0;
  }
}
