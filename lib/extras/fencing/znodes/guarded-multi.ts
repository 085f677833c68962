import { InvalidFencingTokenError } from '../../../lock/errors.js';
import { failedWith, isAboutTheLink, SessionError } from '../../../session/errors.js';
import { check, exists, multi, type MultiPart, type MultiResult, sync } from '../../../session/requests.js';
import { lockIsOver, refusal } from './explain.js';
import type { Link } from './link.js';
import type { Right } from './ticket.js';

/** Of a token: the transaction that created the contender's node, without the epoch of the shard map. */
const TRANSACTION = (1n << 52n) - 1n;

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
  #isVerified = false;

  constructor(link: Link, right: Right, path: string) {
    this.link = link;
    this.path = path;
    this.#right = right;
  }

  /** @throws StaleFencingTokenError; for all that trying again does not change */
  async send(parts: readonly MultiPart[]): Promise<Sent> {
    const { nodePath } = this.#right;
    const kind = parts.length === 0 ? 'look' : 'write';
    for (;;) {
      if (this.#right.isSigned) await this.#verifyNode();
      await this.link.untilUp();
      const [outcome] = await this.link.send([multi([check(nodePath), ...parts])], kind);
      if (!(outcome instanceof SessionError)) return { kind: 'done', results: outcome.slice(1) };
      if (outcome.outcomeUnknown) {
        this.link.isInDoubt ||= kind === 'write';
        if (outcome.code === 'CLOSED') throw this.link.closed();
        if (kind === 'look') continue;
        await this.link.untilUp();
        return { kind: 'in-doubt' };
      }
      if (outcome.path === nodePath && outcome.code === 'NO_NODE') {
        throw lockIsOver(this.#right, this.path, this.link.isInDoubt);
      }
      if (outcome.code === 'NO_NODE' || outcome.code === 'NODE_EXISTS' || outcome.code === 'BAD_VERSION') {
        return { kind: 'refused', code: outcome.code, error: outcome };
      }
      if (outcome.code !== 'NOT_CONNECTED') throw refusal(outcome, this.path);
    }
  }

  /** A signed token says which transaction made the node of its lock: a path of somebody else's is no use with it. */
  async #verifyNode(): Promise<void> {
    const { nodePath, token, key } = this.#right;
    while (!this.#isVerified) {
      await this.link.untilUp();
      // Who handed the ticket over may be ahead of the server here.
      const [synced, found] = await this.link.send([sync(nodePath), exists(nodePath)], 'look');
      const error = synced instanceof SessionError && !failedWith(synced, 'NO_NODE') ? synced : found;
      if (error === undefined) throw lockIsOver(this.#right, this.path, this.link.isInDoubt);
      if (error instanceof SessionError) {
        if (error.code === 'CLOSED') throw this.link.closed();
        if (!isAboutTheLink(error)) throw refusal(error, this.path);
        continue;
      }
      if (error.czxid !== (token & TRANSACTION)) {
        throw new InvalidFencingTokenError(`The signed token is not that of the node ${nodePath}`, key);
      }
      this.#isVerified = true;
    }
  }
}
