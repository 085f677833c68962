import type { SessionAccess } from '../../engine/lock-service.js';
import { LockConfigurationError, LockUnavailableError } from '../../lock/errors.js';
import { SessionError } from '../../session/errors.js';
import { ancestry } from '../../session/paths.js';
import {
  check,
  create,
  multi,
  type MultiPart,
  type MultiResult,
  type NodeData,
  remove,
  set,
} from '../../session/requests.js';
import { ZnodeConflictError } from '../errors.js';
import { lockIsOver } from '../refusals.js';
import { type PatientLink, refusal } from '../../session/patient-link.js';
import { type Right, verifyTicket } from './ticket.js';

/** The version that the node must have; 'absent': there must be none; undefined: any, or none. */
export type ExpectedVersion = number | 'absent' | undefined;

/** Why the data part of a transaction was refused; the lock was held. */
type DataRefusal = 'NO_NODE' | 'NODE_EXISTS' | 'BAD_VERSION';
type Sent =
  | { readonly kind: 'done'; readonly result: MultiResult | undefined }
  | { readonly kind: 'refused'; readonly code: DataRefusal; readonly error: SessionError }
  /** The answer was lost, and the link is up again: what was sent has been carried out by now, or never will be. */
  | { readonly kind: 'in-doubt' };

/** A node that is changed by transactions which the servers carry out only while the lock is held. */
export class GuardedNode {
  #isVerified = false;

  /** @param fullPath the node as the session knows it */
  constructor(
    private readonly link: PatientLink,
    private readonly fullPath: string,
    private readonly right: Right,
    private readonly writerState: SessionAccess['writerState'],
  ) {}

  /** Makes sure that the lock is held. @throws StaleFencingTokenError */
  async claim(): Promise<void> {
    await this.#verify();
    const [held] = await this.link.ask([multi([check(this.right.nodePath)])], 'NO_NODE');
    if (held === undefined) throw this.#lockIsOver();
  }

  /** @returns the node's version after that */
  async write(data: Uint8Array, expected: ExpectedVersion): Promise<number> {
    const { path } = this.link;
    let isNew = expected === 'absent';
    for (;;) {
      const part = isNew
        ? create(this.fullPath, 'persistent', data)
        : set(this.fullPath, data, typeof expected === 'number' ? expected : undefined);
      const sent = await this.#send(part);
      if (sent.kind === 'done') return versionAfter(sent.result, path);
      if (sent.kind === 'in-doubt') {
        const version = await this.#settle(data, expected);
        if (version !== undefined) return version;
      } else if (sent.code === 'NO_NODE' && isNew) {
        // A create found no parent.
        const parents = ancestry(this.fullPath).slice(0, -1);
        const creates = parents.map((parent) => create(parent, 'persistent'));
        await this.link.ask(creates, 'NODE_EXISTS');
      } else if (sent.code === 'BAD_VERSION' || expected !== undefined) {
        throw conflict(path, expected, sent.code, sent.error);
      } else {
        // Any version would do, so the other kind of write follows: a create for a missing node, a set for one that is there.
        isNew = sent.code === 'NO_NODE';
      }
    }
  }

  /** @returns whether there was a node */
  async remove(expected?: number): Promise<boolean> {
    const { path } = this.link;
    for (let wasSent = false; ; wasSent = true) {
      const sent = await this.#send(remove(this.fullPath, expected));
      if (sent.kind === 'done') return true;
      if (sent.kind === 'refused') {
        // The first try may have removed the node, or another writer may have come first: the refusal does not tell.
        if (wasSent && expected !== undefined) throw notKnown('removal', path);
        // Gone, after a try whose answer was lost: there was one.
        if (sent.code === 'NO_NODE') return wasSent;
        throw conflict(path, expected, sent.code, sent.error);
      }
    }
  }

  /** @throws StaleFencingTokenError, and the error for an answer that another try does not change */
  async #send(part: MultiPart): Promise<Sent> {
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
      if (outcome.path === nodePath && outcome.code === 'NO_NODE') throw this.#lockIsOver();
      if (outcome.code === 'NO_NODE' || outcome.code === 'NODE_EXISTS' || outcome.code === 'BAD_VERSION') {
        return { kind: 'refused', code: outcome.code, error: outcome };
      }
      if (outcome.code !== 'NOT_CONNECTED') throw refusal(outcome, this.link.path);
    }
  }

  /** Asks the servers, for a ticket, whether its lock is held. */
  async #verify(): Promise<void> {
    if (this.#isVerified || this.right.shownAs === 'handle') return;
    await verifyTicket(this.link, this.right, this.writerState);
    // A holder holds until its node is gone, which each transaction checks: one look is enough.
    this.#isVerified = true;
  }

  /**
   * Looks, after a lost answer, whether the write was carried out. The same data may also have come from another writer with
   * the same lock. Where any version would have done, that is as good. Where one version was expected, two writers would be
   * told that they made the step from it, and two increments would count as one.
   * @returns the version, if what was to be written stands there; undefined: it has to be sent again
   */
  async #settle(data: Uint8Array, expected: ExpectedVersion): Promise<number | undefined> {
    const found = await this.link.read(this.fullPath);
    if (expected !== undefined) {
      if (isUntouched(found, expected)) return undefined;
      throw notKnown('write', this.link.path);
    }
    // Another write of the same does no harm while the lock is held, and does nothing after that.
    return found !== undefined && Buffer.compare(found.data, data) === 0 ? found.stat.version : undefined;
  }

  #lockIsOver(): Error {
    return lockIsOver(this.right, this.link.path, this.link.isInDoubt);
  }
}

function notKnown(what: 'write' | 'removal', path: string): LockUnavailableError {
  return new LockUnavailableError(
    `The answer to the ${what} of ${path} was lost, and the node is not as it was: it is not known whether this was carried ` +
      'out, or somebody else with the same lock came first. Read it again',
  );
}

function isUntouched(found: NodeData | undefined, expected: number | 'absent'): boolean {
  return expected === 'absent' ? found === undefined : found?.stat.version === expected;
}

function versionAfter(result: MultiResult | undefined, path: string): number {
  if (result?.op !== 'set') return 0;
  if (result.stat.ephemeralOwner === 0n) return result.stat.version;
  throw new LockConfigurationError(
    `${path} was written, but nothing can be kept there: it is an ephemeral node, which disappears with the session ` +
      'that made it. Keep data elsewhere',
  );
}

function conflict(path: string, expected: ExpectedVersion, code: DataRefusal, cause: Error): ZnodeConflictError {
  const found = { NO_NODE: 'it is not there', NODE_EXISTS: 'it is there', BAD_VERSION: 'it has another' }[code];
  const wanted = expected === 'absent' ? 'no node' : `version ${expected ?? 'any'}`;
  return new ZnodeConflictError(
    `${path} should have ${wanted}, but ${found}: somebody with the same lock has written, or somebody without any. ` +
      'Nothing was written; read it again',
    undefined,
    { cause },
  );
}
