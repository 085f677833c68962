import type { SessionAccess } from '../../engine/lock-service.js';
import { SessionError } from '../../session/errors.js';
import { check, multi, type MultiPart, type MultiResult } from '../../session/requests.js';
import { lockIsOver } from '../refusals.js';
import { type Link, refusal } from './link.js';
import { type Right, verifyTicket } from './ticket.js';

/** Why the data part of a transaction was refused; the lock was held. */
export type DataRefusal = 'NO_NODE' | 'NODE_EXISTS' | 'BAD_VERSION';
export type Sent =
  | { readonly kind: 'done'; readonly result: MultiResult | undefined }
  | { readonly kind: 'refused'; readonly code: DataRefusal; readonly error: SessionError }
  /** The answer was lost, and the link is up again: what was sent has been carried out by now, or never will be. */
  | { readonly kind: 'in-doubt' };

/** Transactions that the servers carry out only while the lock is held. */
export class GuardedMulti {
  #isVerified = false;

  constructor(
    readonly link: Link,
    private readonly right: Right,
    private readonly standingOf: SessionAccess['standingOf'],
  ) {}

  /** Makes sure that the lock is held. @throws StaleFencingTokenError */
  async claim(): Promise<void> {
    await this.#verify();
    const [held] = await this.link.ask([multi([check(this.right.nodePath)])], 'NO_NODE');
    if (held === undefined) throw this.#lockIsOver();
  }

  /** @throws StaleFencingTokenError, and the error for an answer that another try does not change */
  async send(part: MultiPart): Promise<Sent> {
    const { nodePath } = this.right;
    for (;;) {
      await this.#verify();
      await this.link.untilUp();
      const [outcome] = await this.link.send([multi([check(nodePath), part])], 'write');
      if (!(outcome instanceof SessionError)) return { kind: 'done', result: outcome[1] };
      if (outcome.outcomeUnknown) {
        this.link.isInDoubt = true;
        if (outcome.code === 'CLOSED') throw this.link.closed();
        await this.link.untilUp();
        // It may have been carried out: the caller finds that out.
        return { kind: 'in-doubt' };
      }
      // The first part that fails gives its path to the error: here the check of the contender's node.
      if (outcome.path === nodePath && outcome.code === 'NO_NODE') {
        throw this.#lockIsOver();
      }
      if (outcome.code === 'NO_NODE' || outcome.code === 'NODE_EXISTS' || outcome.code === 'BAD_VERSION') {
        return { kind: 'refused', code: outcome.code, error: outcome };
      }
      if (outcome.code !== 'NOT_CONNECTED') throw refusal(outcome, this.link.path);
    }
  }

  /** Asks the servers, for a ticket, whether its lock is held. */
  async #verify(): Promise<void> {
    if (this.#isVerified || this.right.shownAs === 'handle') return;
    await verifyTicket(this.link, this.right, this.standingOf);
    // A holder holds until its node is gone, which each transaction checks: one look is enough.
    this.#isVerified = true;
  }
  #lockIsOver(): Error {
    return lockIsOver(this.right, this.link.path, this.link.isInDoubt);
  }
}
