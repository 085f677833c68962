import { types } from 'node:util';
import { type Server, UnansweredQuestion } from '../core/link.js';
import { hostAndPort } from '../core/server-list.js';
import { tlsReason } from '../tls-settings.js';
import { MalformedFrameError } from './jute-reader.js';

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

/** `zk1:2181`, followed by the address where the name is not one itself: `zk1:2181 (10.0.0.3)`. */
export function serverName(server: Server, address: string | undefined): string {
  const name = hostAndPort(server);
  return address === undefined || server.host === address || server.host === `[${address}]`
    ? name
    : `${name} (${address})`;
}

/** An error that says what a tired person can act on. The system's own error is its cause. */
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

export function hangUp(name: string, handshaken: boolean, secure: boolean): Error {
  if (handshaken) return new Error(`${name} closed the connection`);
  // A server without a quorum hangs up at once, and so does one that has reached its limit of connections from this
  // address.
  const otherPort = secure ? 'not be a secureClientPort' : 'expect TLS';
  return new Error(
    `${name} closed the connection instead of opening a session: it may not be serving now (no quorum), have too many ` +
      `connections from this address (maxClientCnxns), or ${otherPort}`,
  );
}

export function saidNothing(name: string): UnansweredQuestion {
  // A server that hangs up on this question may be about to stop, or may answer it to nobody.
  return new UnansweredQuestion(`${name} closed the connection instead of saying whether it serves`);
}

/** The server itself says that it does not serve. */
export function notServing(name: string): Error {
  return new Error(`${name} says that it serves nobody now (no quorum)`);
}

export function unreadableReply(name: string, error: Error): Error {
  // Any other error is a defect of this client, and is passed on unchanged.
  if (!(error instanceof MalformedFrameError)) return error;
  return new MalformedFrameError(`${name} sent something that is not a ZooKeeper reply: ${error.message}`, {
    cause: error,
  });
}

/** Where a test runner has globals of its own, errors of Node itself are no `instanceof Error`. */
export function asError(thrown: unknown): Error {
  return types.isNativeError(thrown) ? thrown : new Error(String(thrown));
}

/** Node sums up the errors of several addresses. The first address is the one where the server was expected. */
export function firstError(error: Error): Error {
  const first: unknown = 'errors' in error && Array.isArray(error.errors) ? error.errors[0] : undefined;
  return first === undefined ? error : asError(first);
}

/** The address that refused, where Node names it. */
export function addressIn(error: Error): string | undefined {
  return 'address' in error && typeof error.address === 'string' ? error.address : undefined;
}

function codeOf(error: Error): string | undefined {
  return 'code' in error && typeof error.code === 'string' ? error.code : undefined;
}
