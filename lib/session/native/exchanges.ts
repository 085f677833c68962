import { LockConfigurationError } from '../../lock/errors.js';
import { MAX_ANSWER_BYTES, TooLargeAnswerError } from '../errors.js';
import { CREATE_FLAGS, type LinkRequest } from '../core/link.js';
import { statOfNewNode } from '../core/stat-of-new-node.js';
import { isNumberedAfter } from '../numbered-names.js';
import { withChroot } from '../paths.js';
import {
  type CreateRequest,
  dataOf,
  type ListRequest,
  type NodeData,
  type Reply,
  type Stat,
  type WatchEvent,
} from '../requests.js';
import type { NativeCall } from './protocol.js';
import { type PackageStat, sequenceOf, statOf, zxidByParent } from './stats.js';

/** An answer of the package: 0 or an error number, and what belongs to it. */
export interface Answer {
  readonly rc: number;
  readonly values: readonly unknown[];
}

export type Call = Omit<NativeCall, 'number'>;

/** What a request of the session takes: calls of the package that leave together, and what their answers make of it. */
export interface Exchange {
  readonly calls: readonly Call[];
  readonly then: (answers: readonly Answer[]) => Exchange | Result;
}

export interface Result {
  /** 0, or an error number as servers use them. */
  readonly errorNumber: number;
  /** @throws what a reply's body may throw */
  readonly read?: () => Reply;
  /** Events that the server would have sent by itself. */
  readonly events?: readonly WatchEvent[];
}

/** What an exchange knows of its session, and tells of it. */
export interface ExchangeContext {
  readonly chroot: string;
  readonly sessionId: bigint;
  /** Whether the node of this session that was created first showed that its parent tells its zxid. */
  readonly isFormulaProven: boolean;
  onFormulaProven(): void;
  /** The parent of the first created node told a zxid that cannot be that node's. */
  onFormulaRefuted(path: string, byParent: bigint, own: bigint): void;
  /** The newest transaction that a stat shows. */
  sawZxid(zxid: bigint): void;
}

const OK = 0;
const NO_NODE = -101;
const UNIMPLEMENTED = -6;
const BAD_ARGUMENTS = -8;
const CLOSING = -116;
const CONNECTION_LOSS = -4;
const NO_DATA = new Uint8Array(0);
const ANY_VERSION_OF_UINT32 = 2 ** 32;

/** The calls for a request. A request that takes none is answered at once, in its turn. */
export function exchangeFor(request: LinkRequest, context: ExchangeContext): Exchange {
  const path = 'path' in request ? withChroot(context.chroot, request.path) : '/';
  switch (request.op) {
    case 'create':
      return creation(request, path, context);
    case 'delete':
      return single('a_delete_', [path, uint32(request.version)], () => undefined);
    case 'set':
      return single('a_set', [path, copyOf(request.data), uint32(request.version)], ([stat]) => see(stat, context));
    case 'exists':
      return single('a_exists', [path, request.watch !== undefined], ([stat]) => see(stat, context));
    case 'get':
      return single('a_get', [path, request.watch !== undefined], ([stat, data]) => nodeData(stat, data, context));
    case 'list':
      return single('a_get_children2', [path, request.watch !== undefined], ([names, stat]) => {
        return { children: children(names as string[], request), stat: see(stat, context) };
      });
    case 'sync':
      return single('a_sync', [path], () => undefined);
    // The package answers its own pings, and tells nobody of the answers.
    case 'ping':
    case 'closeSession':
      return single('a_exists', ['/', false], () => undefined);
    case 'setWatches':
      return watchesAgain(request, context);
    // The package cannot take a watch back: it stays at the server until it fires or the connection ends, and is then told
    // to nobody.
    case 'removeWatches':
      return { calls: [], then: () => ({ errorNumber: OK }) };
    case 'auth':
    case 'multi':
      return { calls: [], then: () => ({ errorNumber: UNIMPLEMENTED }) };
  }
}

/** Enough to tell what servers would not accept. */
export function bytesOf(request: LinkRequest, chroot: string): number {
  const data = request.op === 'create' || request.op === 'set' ? Buffer.byteLength(request.data ?? '') : 0;
  const path = 'path' in request ? Buffer.byteLength(request.path) : 0;
  return data + path + Buffer.byteLength(chroot);
}

/** The error number that the session is told. */
export function errorNumberOf(rc: number): number {
  // The package's own errors (-2, -4 and -7 above all) do not tell whether the server carried the request out. A server
  // answers with the two that are left out here as well, and the package gives the second one for what it does not send.
  const isOwn = rc < OK && rc > -100 && rc !== UNIMPLEMENTED && rc !== BAD_ARGUMENTS;
  return isOwn || rc === CLOSING ? CONNECTION_LOSS : rc;
}

/** The error where the parent of a node has told a zxid that cannot be the node's. */
export function refuted(path: string, byParent: bigint, own: bigint): LockConfigurationError {
  const text =
    `client: 'native' takes a token from the parent of a node, and the parent of ${path} told ${byParent} where the node has ` +
    `${own}. ZooKeeper's servers do not do that: use the client 'wire', or ZooKeeper itself`;
  return new LockConfigurationError(text);
}

function single(
  method: Call['method'],
  args: readonly unknown[],
  read: (values: readonly unknown[]) => Reply,
): Exchange {
  return {
    calls: [{ method, args }],
    then: ([answer]) => (answer!.rc === OK ? { errorNumber: OK, read: () => read(answer!.values) } : failure(answer!)),
  };
}

function failure({ rc }: Answer): Result {
  return { errorNumber: errorNumberOf(rc) };
}

/**
 * A create, and a look at the stat of the new node, which the package's answer lacks.
 */
function creation(request: CreateRequest, path: string, context: ExchangeContext): Exchange {
  const { mode } = request;
  const isSequential = mode.endsWith('sequential');
  const create: Call = { method: 'a_create', args: [path, dataOf(request), CREATE_FLAGS[mode]] };
  // The name of a sequential node is known only from the answer. Where no sibling was created since, its parent tells its
  // zxid; otherwise the node itself is asked behind the answer.
  const look: Call = { method: 'a_exists', args: [isSequential ? parentOf(path) : path, false] };
  return {
    calls: [create, look],
    then: ([created, looked]) => {
      if (created!.rc !== OK) return failure(created!);
      const made = String(created!.values[0]);
      if (!isSequential) return ownStat(made, looked!);
      const parent = looked!.rc === OK ? see(looked!.values[0], context) : undefined;
      const zxid = parent && zxidByParent(parent, sequenceOf(made));
      if (zxid !== undefined && context.isFormulaProven) {
        const stat = statOfNewNode(request, zxid, context.sessionId);
        return { errorNumber: OK, read: () => ({ path: made, stat }) };
      }
      const askOwn: Call = { method: 'a_exists', args: [made, false] };
      return { calls: [askOwn], then: ([own]) => proven(own!, made, zxid) };
    },
  };

  function ownStat(made: string, own: Answer): Result {
    // Somebody has removed the node already. "No node" makes the caller try again, which is right then.
    if (own.rc !== OK) return failure(own);
    return { errorNumber: OK, read: () => ({ path: made, stat: see(own.values[0], context) }) };
  }

  function proven(own: Answer, made: string, zxid: bigint | undefined): Result {
    if (own.rc === OK && zxid !== undefined && !context.isFormulaProven) {
      const { czxid } = see(own.values[0], context);
      if (zxid === czxid) context.onFormulaProven();
      // A later zxid may be that of a sibling that was removed in between; an earlier one is a breach.
      else if (zxid < czxid) context.onFormulaRefuted(made, zxid, czxid);
    }
    return ownStat(made, own);
  }
}

/**
 * Sets watches again, and tells what they have missed, as a server does for a client that sends all of them in one
 * request: the package keeps that request to itself.
 */
function watchesAgain(request: LinkRequest & { readonly op: 'setWatches' }, context: ExchangeContext): Exchange {
  const { data, exists, children: lists, relativeZxid } = request;
  const watched = [
    ...data.map((path) => ({ kind: 'data' as const, path, method: 'a_get' as const })),
    ...exists.map((path) => ({ kind: 'exists' as const, path, method: 'a_exists' as const })),
    ...lists.map((path) => ({ kind: 'children' as const, path, method: 'a_get_children2' as const })),
  ];
  return {
    calls: watched.map(({ path, method }) => ({ method, args: [path, true] })),
    then: (answers) => {
      const broken = answers.find(({ rc }) => rc !== OK && rc !== NO_NODE);
      if (broken !== undefined) return failure(broken);
      const events: WatchEvent[] = [];
      watched.forEach(({ kind, path }, index) => {
        const { rc, values } = answers[index]!;
        if (rc === NO_NODE) {
          if (kind !== 'exists') events.push({ type: 'deleted', path });
          return;
        }
        const stat = see(values[kind === 'children' ? 1 : 0], context);
        if (kind === 'exists') events.push({ type: 'created', path });
        else if (kind === 'children' && stat.pzxid > relativeZxid) events.push({ type: 'children', path });
        else if (kind === 'data' && stat.mzxid > relativeZxid) events.push({ type: 'changed', path });
      });
      return { errorNumber: OK, events };
    },
  };
}

function nodeData(stat: unknown, data: unknown, context: ExchangeContext): NodeData {
  // A node without data has none in the package's answer.
  return { data: (data ?? NO_DATA) as Uint8Array, stat: see(stat, context) };
}

/** @throws TooLargeAnswerError for a list that the other client would not keep either */
function children(names: readonly string[], { path, numberedAfter }: ListRequest): readonly string[] {
  const bytes = names.reduce((sum, name) => sum + Buffer.byteLength(name) + Int32Array.BYTES_PER_ELEMENT, 0);
  if (bytes > MAX_ANSWER_BYTES) throw new TooLargeAnswerError(path, names.length, bytes);
  return numberedAfter === undefined ? names : names.filter((name) => isNumberedAfter(numberedAfter, name));
}

function see(stat: unknown, context: ExchangeContext): Stat {
  const seen = statOf(stat as PackageStat);
  for (const zxid of [seen.czxid, seen.mzxid, seen.pzxid]) context.sawZxid(zxid);
  return seen;
}

/** A message to a thread copies the whole memory in which a view lies, which may be a pool. */
function copyOf(data: Uint8Array): Uint8Array {
  return new Uint8Array(data);
}

/** The package reads a version as an unsigned number, and passes its bits on. */
function uint32(version: number): number {
  return version < 0 ? version + ANY_VERSION_OF_UINT32 : version;
}

function parentOf(path: string): string {
  return path.slice(0, Math.max(1, path.lastIndexOf('/')));
}
