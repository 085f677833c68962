import { type CreateRequest, dataOf, type MultiPart } from '../../requests.js';
import { allows, CREATE, DELETE, READ, resolveAcl, WRITE, type Identity } from './acl.js';
import {
  BAD_ARGUMENTS,
  BAD_VERSION,
  INVALID_ACL,
  NO_AUTH,
  NO_CHILDREN_FOR_EPHEMERALS,
  NO_NODE,
  NODE_EXISTS,
  NOT_EMPTY,
} from './error-numbers.js';
import { isValidPath, parentOf, sequenceSuffix } from './paths.js';
import type { Change } from './transaction.js';
import type { Tree } from './tree.js';
import { CONTAINER_OWNER, isEphemeral, type Znode } from './znode.js';

const ANY_VERSION = -1;
/** ZooKeeper's own nodes, which cannot be removed. */
const SPECIAL_PATHS: ReadonlySet<string> = new Set(['/', '/zookeeper', '/zookeeper/config', '/zookeeper/quota']);

/** The session and the identities that a write is made for. */
export interface Caller {
  readonly sessionId: bigint;
  readonly identities: readonly Identity[];
}

/**
 * Decides a write against `tree`, which shows everything that was decided before. @returns a change or an error number
 */
export function prepare(tree: Tree, part: MultiPart, caller: Caller): Change | number {
  switch (part.op) {
    case 'create':
      return prepareCreate(tree, part, caller);
    case 'delete':
      return prepareDelete(tree, part.path, part.version, caller);
    case 'set': {
      if (!isValidPath(part.path)) return BAD_ARGUMENTS;
      const refusal = refuse(tree.nodes.get(part.path), WRITE, part.version, caller);
      return refusal ?? { op: 'set', path: part.path, data: part.data };
    }
    case 'check': {
      if (!isValidPath(part.path)) return BAD_ARGUMENTS;
      const refusal = refuse(tree.nodes.get(part.path), READ, part.version, caller);
      return refusal ?? { op: 'check', path: part.path };
    }
  }
}

function refuse(node: Znode | undefined, permission: number, version: number, caller: Caller): number | undefined {
  if (node === undefined) return NO_NODE;
  if (!allows(node.acl, permission, caller.identities)) return NO_AUTH;
  return version !== ANY_VERSION && version !== node.version ? BAD_VERSION : undefined;
}

function prepareCreate(tree: Tree, request: CreateRequest, caller: Caller): Change | number {
  // The checks stand in the server's order, which decides the error of a request with several faults.
  if (!request.path.startsWith('/') || request.path.includes('\0')) return BAD_ARGUMENTS;
  const acl = resolveAcl(request.acl, caller.identities);
  if (acl === undefined) return INVALID_ACL;
  const parent = tree.nodes.get(parentOf(request.path));
  if (parent === undefined) return NO_NODE;
  if (!allows(parent.acl, CREATE, caller.identities)) return NO_AUTH;
  const isSequential = request.mode === 'persistent-sequential' || request.mode === 'ephemeral-sequential';
  // The parent shows the parts before this one, so several creates in a multi get different numbers.
  const path = isSequential ? request.path + sequenceSuffix(parent.creates) : request.path;
  if (!isValidPath(path)) return BAD_ARGUMENTS;
  if (tree.nodes.has(path)) return NODE_EXISTS;
  if (isEphemeral(parent)) return NO_CHILDREN_FOR_EPHEMERALS;
  return { op: 'create', path, data: dataOf(request), acl, ephemeralOwner: owner(request, caller) };
}

function owner(request: CreateRequest, caller: Caller): bigint {
  switch (request.mode) {
    case 'ephemeral':
    case 'ephemeral-sequential':
      return caller.sessionId;
    case 'container':
      return CONTAINER_OWNER;
    case 'persistent':
    case 'persistent-sequential':
      return 0n;
  }
}

function prepareDelete(tree: Tree, path: string, version: number, caller: Caller): Change | number {
  if (!path.startsWith('/') || path.includes('\0') || SPECIAL_PATHS.has(path)) return BAD_ARGUMENTS;
  const parent = tree.nodes.get(parentOf(path));
  if (parent === undefined) return NO_NODE;
  if (!allows(parent.acl, DELETE, caller.identities)) return NO_AUTH;
  const node = tree.nodes.get(path);
  if (node === undefined) return NO_NODE;
  if (version !== ANY_VERSION && version !== node.version) return BAD_VERSION;
  return node.children.size > 0 ? NOT_EMPTY : { op: 'delete', path };
}

/** Decides again, when the leader gets to it, whether a container is empty and can go. */
export function prepareReap(tree: Tree, path: string): Change | number {
  const node = tree.nodes.get(path);
  if (node === undefined) return NO_NODE;
  if (node.ephemeralOwner !== CONTAINER_OWNER) return BAD_VERSION;
  return node.children.size > 0 ? NOT_EMPTY : { op: 'delete', path };
}

// A container that never had a child stays, as in ZooKeeper.
export function reapableContainers(tree: Tree): string[] {
  return [...tree.containers].filter((path) => {
    const node = tree.existing(path);
    return node.creates > 0 && node.children.size === 0;
  });
}
