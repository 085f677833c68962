import { types } from 'node:util';
import { type Server, UnansweredQuestion } from '../core/link.js';
import { hostAndPort } from '../core/server-list.js';
import { tlsReason } from '../tls-reason.js';
import { MalformedFrameError } from './malformed-frame-error.js';

const WHAT_HAPPENED: ReadonlyMap<string, string> = new Map([
  ['ECONNREFUSED', 'refused the connection'],
  ['ECONNRESET', 'reset the connection'],
  ['EPIPE', 'closed the connection'],
  ['ETIMEDOUT', 'does not answer'],
  ['EHOSTUNREACH', 'cannot be reached'],
  ['ENETUNREACH', 'cannot be reached'],
  ['EADDRNOTAVAIL', 'cannot be reached'],
  ['EAFNOSUPPORT', 'cannot be reached'],
]);

/** `zk1:2181`, with the address behind it when that is another word: `zk1:2181 (10.0.0.3)`. */
export function serverName(server: Server, address: string | undefined): string {
  const name = hostAndPort(server);
  return address === undefined || server.host === address || server.host === `[${address}]`
    ? name
    : `${name} (${address})`;
}

/** What a tired person can act on, with the system's own error as its cause. */
export function brokenConnection(name: string, error: Error, secure: boolean): Error {
  const code = codeOf(error);
  const known = code === undefined ? undefined : WHAT_HAPPENED.get(code);
  if (code !== undefined && known !== undefined) return new Error(`${name} ${known} (${code})`, { cause: error });
  const problem = secure ? `the TLS connection to ${name} failed` : `the connection to ${name} failed`;
  const suffix = code === undefined ? '' : ` (${code})`;
  return new Error(`${problem}: ${tlsReason(error)}${suffix}`, { cause: error });
}

export function unresolvedName(server: Server, error: Error): Error {
  const code = codeOf(error);
  const reason = code === undefined ? error.message : code;
  return new Error(`${serverName(server, undefined)}: the name cannot be resolved (${reason})`, { cause: error });
}

/** The server hung up without an error. One that has no quorum does so at once, and so does one that has enough of us. */
export function hangUp(name: string, handshaken: boolean, secure: boolean): Error {
  if (handshaken) return new Error(`${name} closed the connection`);
  const otherPort = secure ? 'not be a secureClientPort' : 'expect TLS';
  return new Error(
    `${name} closed the connection instead of opening a session: it may not be serving now (no quorum), have too many ` +
      `connections from this address (maxClientCnxns), or ${otherPort}`,
  );
}

/** Without an answer to the question whether it serves: it may be about to stop, or answer that question to nobody. */
export function saidNothing(name: string): UnansweredQuestion {
  return new UnansweredQuestion(`${name} closed the connection instead of saying whether it serves`);
}

/** The server says so itself. */
export function notServing(name: string): Error {
  return new Error(`${name} says that it serves nobody now (no quorum)`);
}

/** Anything but a malformed frame is a defect of our own: it is handed on as it is. */
export function unreadableReply(name: string, error: Error): Error {
  if (!(error instanceof MalformedFrameError)) return error;
  return new MalformedFrameError(`${name} sent something that is not a ZooKeeper reply: ${error.message}`, {
    cause: error,
  });
}

/** Errors of Node itself are no `instanceof Error` where a test runner has globals of its own. */
export function asError(thrown: unknown): Error {
  return types.isNativeError(thrown) ? thrown : new Error(String(thrown));
}

/** Node sums up what happened at several addresses; the first one is where the server was expected. */
export function firstError(error: Error): Error {
  const first: unknown = 'errors' in error && Array.isArray(error.errors) ? error.errors[0] : undefined;
  return first === undefined ? error : asError(first);
}

/** Which address refused, as far as Node says so. */
export function addressIn(error: Error): string | undefined {
  return 'address' in error && typeof error.address === 'string' ? error.address : undefined;
}

function codeOf(error: Error): string | undefined {
  return 'code' in error && typeof error.code === 'string' ? error.code : undefined;
}
