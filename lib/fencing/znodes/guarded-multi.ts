import type { SessionAccess } from '../../engine/lock-service.js';
import { SessionError } from '../../session/errors.js';
import { check, multi, type MultiPart, type MultiResult } from '../../session/requests.js';
import { lockIsOver } from '../refusals.js';
import { refusal } from './explain.js';
import type { Link } from './link.js';
import type { Right } from './ticket.js';
import { verifyTicket } from './verify-ticket.js';

/** Why the data part of a transaction was refused; the lock was held. */
export type DataRefusal = 'NO_NODE' | 'NODE_EXISTS' | 'BAD_VERSION';
export type Sent =
  | { readonly kind: 'done'; readonly results: readonly MultiResult[] }
  | { readonly kind: 'refused'; readonly code: DataRefusal; readonly error: SessionError }
  /** The answer was lost, and the link is up again: what was sent has been carried out by now, or never will be. */
  | { readonly kind: 'in-doubt' };

/** Transactions that the servers carry out only while the lock is held. */
export class GuardedMulti {
  readonly link: Link;
  readonly path: string;
  readonly #right: Right;
  readonly #standingOf: SessionAccess['standingOf'];
  #isVerified = false;

  constructor(link: Link, right: Right, path: string, standingOf: SessionAccess['standingOf']) {
    this.link = link;
    this.path = path;
    this.#right = right;
    this.#standingOf = standingOf;
  }

  /** @throws StaleFencingTokenError, and the error for an answer that another try does not change */
  async send(parts: readonly MultiPart[]): Promise<Sent> {
    const { nodePath } = this.#right;
    const kind = parts.length === 0 ? 'look' : 'write';
    for (;;) {
      await this.#verify();
      await this.link.untilUp();
      const [outcome] = await this.link.send([multi([check(nodePath), ...parts])], kind);
      if (!(outcome instanceof SessionError)) return { kind: 'done', results: outcome.slice(1) };
      if (outcome.outcomeUnknown) {
        this.link.isInDoubt ||= kind === 'write';
        if (outcome.code === 'CLOSED') throw this.link.closed();
        // A look has no effect, so it is sent again. A write may have been carried out: the caller finds that out.
        if (kind === 'look') continue;
        await this.link.untilUp();
        return { kind: 'in-doubt' };
      }
      // The first part that fails gives its path to the error: here the check of the contender's node.
      if (outcome.path === nodePath && outcome.code === 'NO_NODE') {
        throw lockIsOver(this.#right, this.path, this.link.isInDoubt);
      }
      if (outcome.code === 'NO_NODE' || outcome.code === 'NODE_EXISTS' || outcome.code === 'BAD_VERSION') {
        return { kind: 'refused', code: outcome.code, error: outcome };
      }
      if (outcome.code !== 'NOT_CONNECTED') throw refusal(outcome, this.path);
    }
  }

  /** Asks the servers, for a ticket, whether its lock is held. */
  async #verify(): Promise<void> {
    if (this.#isVerified || this.#right.shownAs === 'handle') return;
    await verifyTicket(this.link, this.#right, this.path, this.#standingOf);
    // A holder holds until its node is gone, which each transaction checks: one look is enough.
    this.#isVerified = true;
  }
}
