import type { Handshake, HandshakeReply } from '../core/link.js';
import type { Acl, CreateRequest, Stat, WatchEvent } from '../requests.js';
import type { JuteReader } from './jute-reader.js';
import type { JuteWriter } from './jute-writer.js';

const PROTOCOL_VERSION = 0;

const EVENT_TYPES: ReadonlyMap<number, WatchEvent['type']> = new Map([
  [1, 'created'],
  [2, 'deleted'],
  [3, 'changed'],
  [4, 'children'],
]);

export function writeHandshake(writer: JuteWriter, handshake: Handshake): void {
  writer.int(PROTOCOL_VERSION);
  writer.long(handshake.lastZxid);
  writer.int(handshake.timeoutMs);
  writer.long(handshake.sessionId);
  writer.buffer(handshake.password);
  // The client never accepts read-only service: a server without a quorum says nothing that a lock could rely on.
  writer.boolean(false);
}

/** Reads the reply without its last byte, the read-only flag, which old servers leave out and nobody here needs. */
export function readHandshakeReply(reader: JuteReader): HandshakeReply {
  reader.int();
  const timeoutMs = reader.int();
  const sessionId = reader.long();
  // The password is kept as long as the session lives. A view would keep the whole received chunk in memory.
  return { timeoutMs, sessionId, password: Uint8Array.from(reader.buffer()) };
}

export function writeAcl(writer: JuteWriter, acl: readonly Acl[]): void {
  writer.int(acl.length);
  for (const entry of acl) {
    writer.int(entry.permissions);
    writer.string(entry.scheme);
    writer.string(entry.id);
  }
}

/** Reads the fields in the order of the wire: JavaScript evaluates an object literal in source order. */
export function readStat(reader: JuteReader): Stat {
  return {
    czxid: reader.long(),
    mzxid: reader.long(),
    ctime: reader.longAsNumber(),
    mtime: reader.longAsNumber(),
    version: reader.int(),
    cversion: reader.int(),
    aversion: reader.int(),
    ephemeralOwner: reader.long(),
    dataLength: reader.int(),
    numChildren: reader.int(),
    pzxid: reader.long(),
  };
}

/**
 * The stat of a node that was just created, from what is known without asking. A server turns the `create2` of a multi
 * into a plain `create`, whose result is only the path. The times, by the server's clock, stay 0.
 */
export function statOfNewNode(request: CreateRequest, zxid: bigint, sessionId: bigint): Stat {
  const ephemeral = request.mode === 'ephemeral' || request.mode === 'ephemeral-sequential';
  return {
    czxid: zxid,
    mzxid: zxid,
    ctime: 0,
    mtime: 0,
    version: 0,
    cversion: 0,
    aversion: 0,
    ephemeralOwner: ephemeral ? sessionId : 0n,
    dataLength: request.data?.length ?? 0,
    numChildren: 0,
    pzxid: zxid,
  };
}

/** Undefined for an event about no node: a change of the server's state, or a removed watch. */
export function readWatchEvent(reader: JuteReader): WatchEvent | undefined {
  const type = EVENT_TYPES.get(reader.int());
  // The state of the connection is skipped: the connection's own end tells it better.
  reader.int();
  const path = reader.string();
  return type === undefined ? undefined : { type, path };
}
