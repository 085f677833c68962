import { InvalidFencingTokenError, LockConfigurationError, StaleFencingTokenError } from '../lock/errors.js';
import { covers, type LockMode } from '../lock/mode.js';
import { visible } from '../lock/visible.js';
import { FENCING_TOKEN_HEADER, FencingTokenRequiredError } from './errors.js';
import { quoted } from './shown.js';

/*
 * How every store, and the guard of HTTP routes, refuses whoever may not write. An error class has its HTTP status.
 *
 * | what a writer shows                                                     | error                     | status |
 * | ----------------------------------------------------------------------- | ------------------------- | ------ |
 * | nothing                                                                 | FencingTokenRequiredError |    428 |
 * | no token, a forged one, that of another lock or of one that only reads  | InvalidFencingTokenError  |    403 |
 * | a token below the highest, or a lock whose node is gone                 | StaleFencingTokenError    |    409 |
 * | a handle of this process that is not for this                           | LockConfigurationError    |    500 |
 */

const REPEAT = 'Acquire the lock again, read again, and repeat the work if it still makes sense';
const NO_RIGHT = 'which gives no right to write';

/** @param written what is known of the write */
export function staleToken(
  resource: string,
  token: bigint,
  highest: bigint,
  written = 'Nothing was written.',
): StaleFencingTokenError {
  return new StaleFencingTokenError(
    `${visible(resource)} has seen the fencing token ${highest}, so ${token} comes too late: that lock is over. ` +
      `${written} ${REPEAT}`,
    resource,
  );
}

/** A lock, and the node that stands in its queue. */
interface PlaceInQueue {
  readonly key: string;
  readonly nodePath: string;
}

/** @param inDoubt an earlier try may have been carried out, while the lock was still held */
export function lockIsOver(
  { key, nodePath, token }: PlaceInQueue & { readonly token: bigint },
  path: string,
  inDoubt: boolean,
): StaleFencingTokenError {
  const written = inDoubt
    ? `The answer to a first try was lost: ${path} may have been written before the lock ended.`
    : `Nothing was written to ${path}.`;
  return new StaleFencingTokenError(
    `The lock ${key} with the fencing token ${token} is over: its node ${nodePath} is gone. ${written} ${REPEAT}`,
    key,
  );
}

export function tokenMissing(key: string, isSigned: boolean): FencingTokenRequiredError {
  const form = isSigned ? 'as a signed token' : 'in digits';
  return new FencingTokenRequiredError(
    `The request has no ${FENCING_TOKEN_HEADER} header. It needs the token of the lock on ${key}, ${form}: fencedFetch and ` +
      'fencingInterceptor send it',
    key,
  );
}

export function severalTokens(key: string): InvalidFencingTokenError {
  return new InvalidFencingTokenError(
    `The request has several ${FENCING_TOKEN_HEADER} headers; send that of the lock on ${key}`,
    key,
  );
}

export function malformedToken(token: unknown, resource: string): InvalidFencingTokenError {
  const shown = typeof token === 'string' ? quoted(token, 40) : String(token);
  return new InvalidFencingTokenError(
    `Not a fencing token for ${visible(resource)}: ${shown}. It is a positive 64-bit integer: a bigint, or its digits as text`,
    resource,
  );
}

export function unsignedToken(resource: string): InvalidFencingTokenError {
  return new InvalidFencingTokenError(
    `${visible(resource)} takes signed fencing tokens only, or the lock itself: sign this one with signToken()`,
    resource,
  );
}

/** @param key the lock that the token had to be of, where one was named */
export function wrongSignedToken(key: string | undefined, what: string): InvalidFencingTokenError {
  const where = key === undefined ? '' : ` for ${visible(String(key))}`;
  return new InvalidFencingTokenError(`The signed fencing token${where} ${what}`, key);
}

export function signedByReader(key: string, mode: LockMode, resource: string): InvalidFencingTokenError {
  return new InvalidFencingTokenError(
    `The signed token shows that ${visible(String(key))} is held as ${mode}, ${NO_RIGHT} to ${visible(resource)}: acquire the lock as ` +
      'exclusive or write, or upgrade it and sign again',
    key,
  );
}

export function ticketOfAnotherLock(key: unknown, path: string, needed: string): InvalidFencingTokenError {
  return new InvalidFencingTokenError(
    `${path} is protected by the lock ${visible(String(needed))}; this is ${visible(String(key))}`,
    needed,
  );
}

export function ticketOfNoPlace(key: string, nodePath: unknown, queue: string): InvalidFencingTokenError {
  return new InvalidFencingTokenError(
    `The node of this lock, ${quoted(nodePath)}, is not a place in the queue ${visible(queue)} of this lock ` +
      'service: is it the lock of a service with another namespace?',
    key,
  );
}

export function ticketOfAnotherNode({ key, nodePath }: PlaceInQueue): InvalidFencingTokenError {
  return new InvalidFencingTokenError(`The token of this ticket is not that of the node ${visible(nodePath)}`, key);
}

export function ticketOfReader({ key, nodePath }: PlaceInQueue, path: string): InvalidFencingTokenError {
  return new InvalidFencingTokenError(
    `The node of this ticket, ${visible(nodePath)}, gives no right to write to ${path}: it is that of a reader, or of an ` +
      'upgradeable lock that is not upgraded, or of no lock',
    key,
  );
}

export function ticketOfWaiter({ key, nodePath }: PlaceInQueue, path: string): InvalidFencingTokenError {
  return new InvalidFencingTokenError(
    `The node of this ticket, ${visible(nodePath)}, waits for its lock: others hold it, and only a holder may write to ${path}`,
    key,
  );
}

/** A handle is of this process: the mistake is in the program, so it is told as one. */
export function handleOfAnotherLock(key: string, resource: string, needed: string): LockConfigurationError {
  return new LockConfigurationError(
    `${visible(resource)} is protected by the lock ${visible(needed)} (lockKey), not by ${key}: the tokens of two locks have ` +
      'nothing to do with each other',
    key,
  );
}

export function handleOfSeveralLocks(keys: readonly string[], resource: string): LockConfigurationError {
  const name = visible(resource);
  return new LockConfigurationError(
    `The fence for ${name} is a handle on several locks (${keys.join(', ')}), each of which has a token of its own: take one of ` +
      `its locks, the one that protects ${name}: handle.locks.find(({ key }) => key === ...)`,
    resource,
  );
}

/** @throws LockConfigurationError for the handle of a lock that others may hold at the same time */
export function assertMayWrite(
  { key, mode }: { readonly key: string; readonly mode: LockMode },
  { by, to }: { readonly by?: string; readonly to?: string } = {},
): void {
  if (covers(mode, 'write')) return;
  const front = by === undefined ? '' : `${by}: `;
  const target = to === undefined ? '' : ` to ${visible(to)}`;
  throw new LockConfigurationError(
    `${front}${key} is held as ${mode}, ${NO_RIGHT}${target}: acquire it as exclusive or write, or upgrade it`,
    key,
  );
}
