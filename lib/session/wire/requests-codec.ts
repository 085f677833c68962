import { CREATE_FLAGS, type ControlRequest, type LinkRequest, type RemovableWatch } from '../core/link.js';
import type { Acl, CreateRequest, MultiPart, MultiRequest } from '../requests.js';
import type { JuteWriter } from './jute-writer.js';
import { Opcode } from './opcodes.js';
import { writeAcl } from './records.js';

const NO_DATA = new Uint8Array(0);
const NO_ERROR = -1;
const WATCHER_TYPES: Readonly<Record<RemovableWatch, number>> = { children: 1, data: 2 };

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
    const writer = this.#writer;
    writer.int(xid);
    switch (request.op) {
      case 'create':
        writer.int(createOpcode(request));
        return this.#create(request);
      case 'delete':
        writer.int(Opcode.delete);
        this.#path(request.path);
        return writer.int(request.version);
      case 'set':
        writer.int(Opcode.setData);
        return this.#set(request.path, request.data, request.version);
      case 'exists':
        return this.#read(Opcode.exists, request.path, request.watch !== undefined);
      case 'get':
        return this.#read(Opcode.getData, request.path, request.watch !== undefined);
      case 'list':
        return this.#read(Opcode.getChildren2, request.path, request.watch !== undefined);
      case 'sync':
        writer.int(Opcode.sync);
        return this.#path(request.path);
      case 'multi':
        writer.int(Opcode.multi);
        return this.#multi(request);
      case 'auth':
      case 'setWatches':
      case 'removeWatches':
      case 'ping':
      case 'closeSession':
        return this.#control(request);
    }
  }

  #control(request: ControlRequest): void {
    const writer = this.#writer;
    switch (request.op) {
      case 'auth':
        writer.int(Opcode.auth);
        // No server looks at the type of the credentials.
        writer.int(0);
        writer.string(request.scheme);
        return writer.buffer(request.credential);
      case 'setWatches':
        writer.int(Opcode.setWatches);
        writer.long(request.relativeZxid);
        this.#paths(request.data);
        this.#paths(request.exists);
        return this.#paths(request.children);
      case 'removeWatches':
        writer.int(Opcode.removeWatches);
        this.#path(request.path);
        return writer.int(WATCHER_TYPES[request.kind]);
      case 'ping':
        return writer.int(Opcode.ping);
      case 'closeSession':
        return writer.int(Opcode.closeSession);
    }
  }

  #read(opcode: number, path: string, watch: boolean): void {
    this.#writer.int(opcode);
    this.#path(path);
    this.#writer.boolean(watch);
  }

  #create(request: CreateRequest): void {
    this.#path(request.path);
    this.#writer.buffer(request.data ?? NO_DATA);
    writeAcl(this.#writer, request.acl ?? this.#defaultAcl);
    this.#writer.int(CREATE_FLAGS[request.mode]);
  }

  #set(path: string, data: Uint8Array, version: number): void {
    this.#path(path);
    this.#writer.buffer(data);
    this.#writer.int(version);
  }

  #multi(request: MultiRequest): void {
    for (const part of request.parts) {
      switch (part.op) {
        case 'create':
          this.#multiHeader(createOpcode(part), false);
          this.#create(part);
          break;
        case 'delete':
          this.#multiHeader(Opcode.delete, false);
          this.#path(part.path);
          this.#writer.int(part.version);
          break;
        case 'set':
          this.#multiHeader(Opcode.setData, false);
          this.#set(part.path, part.data, part.version);
          break;
        case 'check':
          this.#multiHeader(Opcode.check, false);
          this.#path(part.path);
          this.#writer.int(part.version);
          break;
      }
    }
    this.#multiHeader(Opcode.error, true);
  }

  #multiHeader(opcode: number, done: boolean): void {
    this.#writer.int(opcode);
    this.#writer.boolean(done);
    this.#writer.int(NO_ERROR);
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

/** Both opcodes answer with the stat of the new node, which the plain `create` (1) does not. */
function createOpcode(request: CreateRequest): number {
  return request.mode === 'container' ? Opcode.createContainer : Opcode.create2;
}

/** How many bytes of its user's data a request carries: a lower bound of its frame, known before it is written. */
export function dataBytes(request: LinkRequest | MultiPart): number {
  switch (request.op) {
    case 'create':
      return request.data?.length ?? 0;
    case 'set':
      return request.data.length;
    case 'multi':
      return request.parts.reduce((sum, part) => sum + dataBytes(part), 0);
    case 'delete':
    case 'check':
    case 'exists':
    case 'get':
    case 'list':
    case 'sync':
    case 'auth':
    case 'setWatches':
    case 'removeWatches':
    case 'ping':
    case 'closeSession':
      return 0;
  }
}
