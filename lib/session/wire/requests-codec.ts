import { CREATE_FLAGS, type Handshake, type LinkRequest, type RemovableWatch, TOKEN_XID } from '../core/link.js';
import type { Acl, CheckRequest, MultiPart } from '../requests.js';
import type { JuteWriter } from './jute-writer.js';

/** The numbers of the operations as in ZooKeeper's `ZooDefs.OpCode`, by the names that requests have here. */
export const OPCODES = {
  /** `create2`, which answers with the stat of the new node. */
  create: 15,
  /** For containers. It also answers with the stat. */
  createContainer: 19,
  /** The result type of a create in a multi, without a stat. It is never sent. */
  createWithoutStat: 1,
  delete: 2,
  exists: 3,
  get: 4,
  set: 5,
  sync: 9,
  ping: 11,
  /** `getChildren2`, which answers with the stat. */
  list: 12,
  check: 13,
  multi: 14,
  removeWatches: 18,
  auth: 100,
  setWatches: 101,
  /** One token of an authentication. */
  sasl: 102,
  closeSession: -11,
  /** In a multi: the result type of a part that failed, and the type of the header that ends the list. */
  error: -1,
} as const;

const PROTOCOL_VERSION = 0;
const NO_DATA = new Uint8Array(0);
const NO_ERROR = -1;
const WATCHER_TYPES: Readonly<Record<RemovableWatch, number>> = { children: 1, data: 2 };

export function writeHandshake(writer: JuteWriter, handshake: Handshake): void {
  writer.int(PROTOCOL_VERSION);
  writer.long(handshake.lastZxid);
  writer.int(handshake.timeoutMs);
  writer.long(handshake.sessionId);
  writer.buffer(handshake.password);
  // The client never accepts read-only service: a server without a quorum says nothing that a lock could rely on.
  writer.boolean(false);
}

export function writeToken(writer: JuteWriter, token: Uint8Array): void {
  writer.int(TOKEN_XID);
  writer.int(OPCODES.sasl);
  writer.buffer(token);
}

/** Writes a request, its header and its body, into the frame that was begun. */
export class RequestEncoder {
  readonly #writer: JuteWriter;
  readonly #defaultAcl: readonly Acl[];
  #chroot = '';

  /** @param defaultAcl the access rights of creates that name none */
  constructor(writer: JuteWriter, defaultAcl: readonly Acl[]) {
    this.#writer = writer;
    this.#defaultAcl = defaultAcl;
  }

  encode(xid: number, request: LinkRequest, chroot: string): void {
    this.#chroot = chroot;
    this.#writer.int(xid);
    this.#writer.int(opcodeOf(request));
    this.#body(request);
  }

  #body(request: LinkRequest | CheckRequest): void {
    const writer = this.#writer;
    switch (request.op) {
      case 'create':
        this.#path(request.path);
        if (typeof request.data === 'string') writer.string(request.data);
        else writer.buffer(request.data ?? NO_DATA);
        this.#acl(request.acl ?? this.#defaultAcl);
        return writer.int(CREATE_FLAGS[request.mode]);
      case 'set':
        this.#path(request.path);
        writer.buffer(request.data);
        return writer.int(request.version);
      case 'delete':
      case 'check':
        this.#path(request.path);
        return writer.int(request.version);
      case 'exists':
      case 'get':
      case 'list':
        this.#path(request.path);
        return writer.boolean(request.watch !== undefined);
      case 'sync':
        return this.#path(request.path);
      case 'multi':
        return this.#multi(request.parts);
      case 'auth':
        // No server looks at the type of the credentials.
        writer.int(0);
        writer.string(request.scheme);
        return writer.buffer(request.credential);
      case 'setWatches':
        writer.long(request.relativeZxid);
        this.#paths(request.data);
        this.#paths(request.exists);
        return this.#paths(request.children);
      case 'removeWatches':
        this.#path(request.path);
        return writer.int(WATCHER_TYPES[request.kind]);
      case 'ping':
      case 'closeSession':
        return;
    }
  }

  #multi(parts: readonly MultiPart[]): void {
    for (const part of parts) {
      this.#multiHeader(opcodeOf(part), false);
      this.#body(part);
    }
    this.#multiHeader(OPCODES.error, true);
  }

  #multiHeader(opcode: number, done: boolean): void {
    this.#writer.int(opcode);
    this.#writer.boolean(done);
    this.#writer.int(NO_ERROR);
  }

  #acl(acl: readonly Acl[]): void {
    this.#writer.int(acl.length);
    for (const entry of acl) {
      this.#writer.int(entry.permissions);
      this.#writer.string(entry.scheme);
      this.#writer.string(entry.id);
    }
  }

  /** Writes a path with the chroot in front. The root of a chroot is the chroot itself, without a slash at its end. */
  #path(path: string): void {
    if (path === '/' && this.#chroot !== '') this.#writer.string(this.#chroot);
    else this.#writer.string(path, this.#chroot);
  }

  #paths(paths: readonly string[]): void {
    this.#writer.int(paths.length);
    for (const path of paths) this.#path(path);
  }
}

function opcodeOf(request: LinkRequest | CheckRequest): number {
  // A container has an opcode of its own, which also answers with the stat.
  if (request.op === 'create' && request.mode === 'container') return OPCODES.createContainer;
  return OPCODES[request.op];
}

/** How many bytes of its user's data a request carries: a lower bound of its frame, known before it is written. */
export function dataBytes(request: LinkRequest | MultiPart): number {
  switch (request.op) {
    case 'create':
    case 'set':
      return request.data?.length ?? 0;
    case 'multi':
      return request.parts.reduce((sum, part) => sum + dataBytes(part), 0);
    default:
      return 0;
  }
}
