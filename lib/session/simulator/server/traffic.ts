import type { LinkRequest } from '../../core/link.js';

/** The requests of clients to an ensemble, counted where they arrive. */
export class Traffic {
  readonly #requests = new Map<LinkRequest['op'], number>();
  /** How many watch events were sent. */
  events = 0;

  count(op: LinkRequest['op']): void {
    this.#requests.set(op, this.requests(op) + 1);
  }

  requests(op: LinkRequest['op']): number {
    return this.#requests.get(op) ?? 0;
  }
}
