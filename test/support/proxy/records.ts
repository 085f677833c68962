import { errorCode } from '../process/error-code.js';
import { bodyOf, frameOf } from './frames.js';
import { beginsWithPath, eventName, opcodeName, type OpcodeName } from './opcodes.js';

/** A frame that is shorter than what it should hold, or holds something unknown. */
class MalformedError extends Error {}

const BEYOND_THE_END: readonly (string | undefined)[] = ['ERR_OUT_OF_RANGE', 'ERR_BUFFER_OUT_OF_BOUNDS'];

/** What `read` makes of a frame, or `undefined` when it is malformed. */
export function unlessMalformed<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch (error) {
    if (error instanceof MalformedError || BEYOND_THE_END.includes(errorCode(error))) return undefined;
    throw error;
  }
}

const NOTIFICATION_XID = -1;

export interface RequestRecord {
  xid: number;
  opcode: OpcodeName;
  /** What the request is about; of a multi, the path of its first operation. */
  path: string | undefined;
  /** All paths: those of a multi's operations, else the one or none. */
  paths: readonly string[];
}

export interface ReplyRecord {
  xid: number;
  zxid: bigint;
  errorCode: number;
}

export interface NotificationRecord {
  /** `deleted`, `childrenChanged`, ... */
  type: string;
  path: string;
}

/** The handshake's first frame, as far as a proxy cares. */
export interface ConnectRequestRecord {
  lastZxid: bigint;
  timeoutMs: number;
  /** 0n asks for a new session. */
  sessionId: bigint;
}

export interface ConnectResponseRecord {
  /** 0 says that the session has expired. */
  timeoutMs: number;
  sessionId: bigint;
}

export function readConnectRequest(frame: Buffer): ConnectRequestRecord {
  const body = bodyOf(frame);
  return { lastZxid: body.readBigInt64BE(4), timeoutMs: body.readInt32BE(12), sessionId: body.readBigInt64BE(16) };
}

export function readConnectResponse(frame: Buffer): ConnectResponseRecord {
  const body = bodyOf(frame);
  return { timeoutMs: body.readInt32BE(4), sessionId: body.readBigInt64BE(8) };
}

/** What a server answers to a session it no longer knows: no timeout, no id, an empty password of 16 bytes. */
export function sessionExpiredResponse(): Buffer {
  const body = Buffer.alloc(4 + 4 + 8 + 4 + 16 + 1);
  body.writeInt32BE(16, 16);
  return frameOf(body);
}

export function readRequest(frame: Buffer): RequestRecord {
  const body = bodyOf(frame);
  const xid = body.readInt32BE(0);
  const opcode = opcodeName(body.readInt32BE(4));
  if (opcode === 'multi' || opcode === 'multiRead') {
    const paths = readMultiPaths(body.subarray(8));
    return { xid, opcode, path: paths[0], paths };
  }
  if (!beginsWithPath(opcode)) return { xid, opcode, path: undefined, paths: [] };
  const path = readText(body, 8).text;
  return { xid, opcode, path, paths: [path] };
}

export function readReply(frame: Buffer): ReplyRecord | NotificationRecord {
  const body = bodyOf(frame);
  const xid = body.readInt32BE(0);
  if (xid === NOTIFICATION_XID) return { type: eventName(body.readInt32BE(16)), path: readText(body, 24).text };
  return { xid, zxid: body.readBigInt64BE(4), errorCode: body.readInt32BE(12) };
}

export function isNotification(record: ReplyRecord | NotificationRecord): record is NotificationRecord {
  return 'path' in record;
}

function readText(body: Buffer, offset: number): { text: string; end: number } {
  const length = Math.max(0, body.readInt32BE(offset));
  const end = offset + 4 + length;
  if (end > body.length) throw new MalformedError(`A text of ${length} bytes does not fit its frame.`);
  return { text: body.toString('utf8', offset + 4, end), end };
}

/** Operations follow one another: type, done, error, then the operation's own record, until `done` is set. */
function readMultiPaths(operations: Buffer): string[] {
  const paths: string[] = [];
  let offset = 0;
  while (operations.readUInt8(offset + 4) === 0) {
    const opcode = opcodeName(operations.readInt32BE(offset));
    const path = readText(operations, offset + 9);
    paths.push(path.text);
    offset = endOfOperation(operations, opcode, path.end);
  }
  return paths;
}

const CREATES = new Set<OpcodeName>(['create', 'create2', 'createContainer', 'createTTL']);

function endOfOperation(operations: Buffer, opcode: OpcodeName, afterPath: number): number {
  if (opcode === 'delete' || opcode === 'check') return afterPath + 4;
  if (opcode === 'getData' || opcode === 'getChildren') return afterPath + 1;
  const afterData = afterBuffer(operations, afterPath);
  if (opcode === 'setData') return afterData + 4;
  if (!CREATES.has(opcode)) throw new MalformedError(`No operation '${opcode}' is known in a multi.`);
  const afterFlags = afterAcl(operations, afterData) + 4;
  return opcode === 'createTTL' ? afterFlags + 8 : afterFlags;
}

function afterBuffer(bytes: Buffer, offset: number): number {
  return offset + 4 + Math.max(0, bytes.readInt32BE(offset));
}

function afterAcl(bytes: Buffer, offset: number): number {
  let end = offset + 4;
  for (let left = Math.max(0, bytes.readInt32BE(offset)); left > 0; left -= 1) {
    end = readText(bytes, readText(bytes, end + 4).end).end;
  }
  return end;
}
