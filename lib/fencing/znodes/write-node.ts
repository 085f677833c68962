import { LockConfigurationError, LockUnavailableError } from '../../lock/errors.js';
import { ancestry } from '../../session/paths.js';
import { create, type MultiResult, type NodeData, remove, set } from '../../session/requests.js';
import type { DataRefusal, GuardedMulti } from './guarded-multi.js';
import { ZnodeConflictError } from '../errors.js';

/** The version that the node must have; 'absent': there must be none; undefined: any, or none. */
export type ExpectedVersion = number | 'absent' | undefined;

/** @returns the node's version after that */
export async function writeNode(
  guarded: GuardedMulti,
  fullPath: string,
  data: Uint8Array,
  expected: ExpectedVersion,
): Promise<number> {
  let isNew = expected === 'absent';
  for (;;) {
    const part = isNew
      ? create(fullPath, 'persistent', data)
      : set(fullPath, data, typeof expected === 'number' ? expected : undefined);
    const sent = await guarded.send(part);
    if (sent.kind === 'done') return versionAfter(sent.result, guarded.link.path);
    if (sent.kind === 'in-doubt') {
      const version = await settle(guarded, fullPath, data, expected);
      if (version !== undefined) return version;
    } else if (sent.code === 'NO_NODE' && isNew) {
      // A create found no parent.
      await makeParents(guarded, fullPath);
    } else if (sent.code === 'BAD_VERSION' || expected !== undefined) {
      throw conflict(guarded.link.path, expected, sent.code, sent.error);
    } else {
      // Any version would do, so the other kind of write follows: a create for a missing node, a set for one that is there.
      isNew = sent.code === 'NO_NODE';
    }
  }
}

/** @returns whether there was a node */
export async function removeNode(guarded: GuardedMulti, fullPath: string, expected?: number): Promise<boolean> {
  for (let wasSent = false; ; wasSent = true) {
    const sent = await guarded.send(remove(fullPath, expected));
    if (sent.kind === 'done') return true;
    if (sent.kind === 'refused') {
      // The first try may have removed the node, or another writer may have come first: the refusal does not tell.
      if (wasSent && expected !== undefined) throw notKnown('removal', guarded.link.path);
      // Gone, after a try whose answer was lost: there was one.
      if (sent.code === 'NO_NODE') return wasSent;
      throw conflict(guarded.link.path, expected, sent.code, sent.error);
    }
  }
}

/**
 * Looks, after a lost answer, whether the write was carried out. The same data may also have come from another writer with
 * the same lock. Where any version would have done, that is as good. Where one version was expected, two writers would be
 * told that they made the step from it, and two increments would count as one.
 * @returns the version, if what was to be written stands there; undefined: it has to be sent again
 */
async function settle(
  { link }: GuardedMulti,
  fullPath: string,
  data: Uint8Array,
  expected: ExpectedVersion,
): Promise<number | undefined> {
  const found = await link.read(fullPath);
  if (expected !== undefined) {
    if (isUntouched(found, expected)) return undefined;
    throw notKnown('write', link.path);
  }
  // Another write of the same does no harm while the lock is held, and does nothing after that.
  return found !== undefined && Buffer.compare(found.data, data) === 0 ? found.stat.version : undefined;
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

async function makeParents({ link }: GuardedMulti, fullPath: string): Promise<void> {
  const parents = ancestry(fullPath).slice(0, -1);
  await link.ask(
    parents.map((parent) => create(parent, 'persistent')),
    'NODE_EXISTS',
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
