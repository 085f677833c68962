import type { LinkRequest } from '../../core/link.js';

/** What clients have asked of an ensemble, counted where it arrives. */
export class Traffic {
  readonly #requests = new Map<LinkRequest['op'], number>();
  /** Watch events sent. */
  events = 0;

  count(op: LinkRequest['op']): void {
    this.#requests.set(op, this.requests(op) + 1);
  }

  requests(op: LinkRequest['op']): number {
    return this.#requests.get(op) ?? 0;
  }
}
