import type { SessionError } from './errors.js';

/** What ZooKeeper keeps about a node. Transaction and session ids are 64 bits wide, so they are bigints. */
export interface Stat {
  /** The transaction that created the node: strictly rising over the life of an ensemble. */
  readonly czxid: bigint;
  readonly mzxid: bigint;
  /** Creation and modification time in milliseconds since 1970, by the server's wall clock. */
  readonly ctime: number;
  readonly mtime: number;
  readonly version: number;
  readonly cversion: number;
  readonly aversion: number;
  /** The session an ephemeral node belongs to; 0n for other nodes. */
  readonly ephemeralOwner: bigint;
  readonly dataLength: number;
  readonly numChildren: number;
  readonly pzxid: bigint;
}

export interface Acl {
  /** Bits: read 1, write 2, create 4, delete 8, admin 16. */
  readonly permissions: number;
  readonly scheme: string;
  readonly id: string;
}

const ALL_PERMISSIONS = 31;
/** The access rights of nodes that anyone may use. */
export const ANYONE: readonly Acl[] = [{ permissions: ALL_PERMISSIONS, scheme: 'world', id: 'anyone' }];

/** Whether these access rights are those of `ANYONE`. */
export function isOpen(acl: readonly Acl[]): boolean {
  return (
    acl.length === 1 && acl[0]!.permissions === ALL_PERMISSIONS && acl[0]!.scheme === 'world' && acl[0]!.id === 'anyone'
  );
}

export type CreateMode = 'persistent' | 'persistent-sequential' | 'ephemeral' | 'ephemeral-sequential' | 'container';

/**
 * What happened to `path` (`created`, `deleted`, `changed`, `children`), or `lost`: the session has ended or was
 * closed, and its watches with it.
 */
export interface WatchEvent {
  readonly type: 'created' | 'deleted' | 'changed' | 'children' | 'lost';
  readonly path: string;
}

/**
 * Called once for each watch (`get`, `exists`, `list`). A watcher that set several watches on a path is told of one
 * event there once. The call comes while replies are being read, possibly before the code that awaits the request which
 * set the watch runs on. It must not throw.
 */
export interface Watcher {
  onWatchEvent(event: WatchEvent): void;
}

export interface CreateRequest {
  readonly op: 'create';
  readonly path: string;
  readonly mode: CreateMode;
  /** A text is written as UTF-8, and needs no buffer of its own on its way. */
  readonly data?: Uint8Array | string | undefined;
  /** Who may do what with the node. @default the session's `acl` option */
  readonly acl?: readonly Acl[] | undefined;
}
export interface DeleteRequest {
  readonly op: 'delete';
  readonly path: string;
  /** -1 for any. */
  readonly version: number;
}
export interface SetRequest {
  readonly op: 'set';
  readonly path: string;
  readonly data: Uint8Array;
  /** -1 for any. */
  readonly version: number;
}
/** Only allowed inside a multi, which fails as a whole unless the node is there with this version (-1 for any). */
export interface CheckRequest {
  readonly op: 'check';
  readonly path: string;
  readonly version: number;
}
export interface ExistsRequest {
  readonly op: 'exists';
  readonly path: string;
  /**
   * Also set when the node is missing. It then stays at the server until the node is created or the watch is removed:
   * prefer `get`.
   */
  readonly watch?: Watcher | undefined;
}
export interface GetRequest {
  readonly op: 'get';
  readonly path: string;
  /** Set only when the node is there. Told when the node is changed or deleted. */
  readonly watch?: Watcher | undefined;
}
export interface ListRequest {
  readonly op: 'list';
  readonly path: string;
  /** Set only when the node is there. Told when a child comes or goes, or the node is deleted. */
  readonly watch?: Watcher | undefined;
  /**
   * Keeps only the children whose names end in one of these characters and a number as servers give it to sequential
   * nodes. The others are read past and cost no memory. @default all
   */
  readonly numberedAfter?: string | undefined;
}
/** Makes the reads behind it see everything that was committed when the leader answered. */
export interface SyncRequest {
  readonly op: 'sync';
  readonly path: string;
}
export type MultiPart = CreateRequest | DeleteRequest | SetRequest | CheckRequest;
/** Carries out all parts or none, in one transaction. */
export interface MultiRequest {
  readonly op: 'multi';
  readonly parts: readonly MultiPart[];
}

export type Request =
  CreateRequest | DeleteRequest | SetRequest | ExistsRequest | GetRequest | ListRequest | SyncRequest | MultiRequest;

export interface Created {
  readonly path: string;
  readonly stat: Stat;
}
export interface NodeData {
  readonly data: Uint8Array;
  readonly stat: Stat;
}
export interface Children {
  /** Names, not paths, in no particular order. */
  readonly children: readonly string[];
  readonly stat: Stat;
}
/**
 * The results of a multi's parts, in order. A server sends no stat for a create in a multi: what is known is filled in,
 * and the times are 0.
 */
export type MultiResult =
  | ({ readonly op: 'create' } & Created)
  | { readonly op: 'delete' }
  | { readonly op: 'check' }
  | { readonly op: 'set'; readonly stat: Stat };

interface ReplyByOp {
  create: Created;
  delete: undefined;
  set: Stat;
  /** Undefined says that there is no such node. */
  exists: Stat | undefined;
  get: NodeData;
  list: Children;
  sync: undefined;
  multi: readonly MultiResult[];
}
export type Reply = ReplyByOp[keyof ReplyByOp];
export type ReplyTo<R extends Request> = ReplyByOp[R['op']];
/** Each request of a batch has its own outcome. */
export type Outcome<R extends Request> = ReplyTo<R> | SessionError;

const ANY_VERSION = -1;

export function create(
  path: string,
  mode: CreateMode,
  data?: Uint8Array | string,
  acl?: readonly Acl[],
): CreateRequest {
  return { op: 'create', path, mode, data, acl };
}
/** The data of a new node, as bytes in memory of their own. */
export function dataOf({ data = '' }: CreateRequest): Uint8Array {
  // The bytes of a short text are a part of Node's pool, which a message to a thread would take along whole.
  return Uint8Array.from(typeof data === 'string' ? Buffer.from(data) : data);
}
export function remove(path: string, version = ANY_VERSION): DeleteRequest {
  return { op: 'delete', path, version };
}
export function set(path: string, data: Uint8Array, version = ANY_VERSION): SetRequest {
  return { op: 'set', path, data, version };
}
export function check(path: string, version = ANY_VERSION): CheckRequest {
  return { op: 'check', path, version };
}
export function exists(path: string, watch?: Watcher): ExistsRequest {
  return { op: 'exists', path, watch };
}
export function get(path: string, watch?: Watcher): GetRequest {
  return { op: 'get', path, watch };
}
export function list(path: string, watch?: Watcher, numberedAfter?: string): ListRequest {
  return { op: 'list', path, watch, numberedAfter };
}
export function sync(path: string): SyncRequest {
  return { op: 'sync', path };
}
export function multi(parts: readonly MultiPart[]): MultiRequest {
  return { op: 'multi', parts };
}
