import { performance } from 'node:perf_hooks';
import type { OpcodeName } from './opcodes.js';
import type { NotificationRecord, RequestRecord } from './records.js';

interface Where {
  /** Milliseconds on the monotonic clock (`performance.now()`), when the proxy read it. */
  at: number;
  /** Counts the proxy's connections from 1. */
  connectionId: number;
  /** The session of that connection, once the server has told it. */
  sessionId: bigint | undefined;
}

export interface LoggedRequest extends RequestRecord, Where {
  /** What the server answered, whether or not the client was given it; `undefined` until then. */
  reply: { at: number; errorCode: number } | undefined;
}

export interface LoggedNotification extends NotificationRecord, Where {}

export interface RequestFilter {
  opcode?: OpcodeName | readonly OpcodeName[];
  /** Of a multi, any of its operations may match. */
  path?: string | RegExp;
}

export interface NotificationFilter {
  type?: string;
  path?: string | RegExp;
}

/** What a proxy has seen, since the start or the last `clear`. */
export class TrafficLog {
  requests: LoggedRequest[] = [];
  notifications: LoggedNotification[] = [];

  request(record: RequestRecord, where: Omit<Where, 'at'>): LoggedRequest {
    const entry = { ...record, ...where, at: performance.now(), reply: undefined };
    this.requests.push(entry);
    return entry;
  }

  notification(record: NotificationRecord, where: Omit<Where, 'at'>): LoggedNotification {
    const entry = { ...record, ...where, at: performance.now() };
    this.notifications.push(entry);
    return entry;
  }

  clear(): void {
    this.requests = [];
    this.notifications = [];
  }
}

export function answered(entry: LoggedRequest, errorCode: number, sessionId: bigint | undefined): void {
  entry.reply = { at: performance.now(), errorCode };
  entry.sessionId = sessionId;
}

export function requestMatcher({ opcode, path }: RequestFilter): (entry: RequestRecord) => boolean {
  const opcodes = opcode === undefined ? undefined : new Set([opcode].flat());
  return (entry) => {
    if (opcodes !== undefined && !opcodes.has(entry.opcode)) return false;
    return path === undefined || entry.paths.some((candidate) => pathMatches(path, candidate));
  };
}

export function notificationMatcher({ type, path }: NotificationFilter): (entry: NotificationRecord) => boolean {
  return (entry) =>
    (type === undefined || entry.type === type) && (path === undefined || pathMatches(path, entry.path));
}

/** How often each name occurs. */
export function countBy<T>(entries: readonly T[], nameOf: (entry: T) => string): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const entry of entries) counts[nameOf(entry)] = (counts[nameOf(entry)] ?? 0) + 1;
  return counts;
}

function pathMatches(wanted: string | RegExp, path: string): boolean {
  // `search` ignores the state that a RegExp with the g flag keeps between tests.
  return typeof wanted === 'string' ? wanted === path : path.search(wanted) >= 0;
}
