/**
 * Why a request of the session failed. The first four codes are about the link, the others are the server's own answer.
 *
 * - `NOT_CONNECTED`: there was no link, and the request was never sent
 * - `CONNECTION_LOSS`: the link went away before the answer; the request may or may not have been carried out
 * - `SESSION_EXPIRED`: the session has ended; its ephemeral nodes are gone or going
 * - `CLOSED`: this client was closed; the outcome of a request that had been sent is unknown
 * - `TOO_LARGE`: the client refused the request, because a server cuts the connection at a frame over its limit; or the
 *   answer to a read was too long, and was read past
 * - `THROTTLED`: the server is too busy and did nothing; the answer is held back for a while, so that no caller asks
 *   again at once
 * - `READ_ONLY`: the server has no quorum and serves only reads
 * - `LOCAL_SESSION`: only one server knows the session, and it may own no ephemeral node
 * - `ROLLED_BACK`: this part of a multi failed because of another part
 */
export type SessionErrorCode =
  | 'NOT_CONNECTED'
  | 'CONNECTION_LOSS'
  | 'SESSION_EXPIRED'
  | 'CLOSED'
  | 'TOO_LARGE'
  | 'NO_NODE'
  | 'NODE_EXISTS'
  | 'NOT_EMPTY'
  | 'BAD_VERSION'
  | 'NO_CHILDREN_FOR_EPHEMERALS'
  | 'NO_AUTH'
  | 'AUTH_FAILED'
  | 'INVALID_ACL'
  | 'BAD_ARGUMENTS'
  | 'NO_WATCHER'
  | 'QUOTA_EXCEEDED'
  | 'THROTTLED'
  | 'UNIMPLEMENTED'
  | 'READ_ONLY'
  | 'LOCAL_SESSION'
  | 'ROLLED_BACK'
  | 'SERVER_ERROR';

/** The server answers nothing else, and hangs up: it insists on an authentication that the client has not made. */
export const AUTHENTICATION_REQUIRED = -124;

/** The code for each error number that servers use on the wire. */
const CODE_BY_NUMBER: ReadonlyMap<number, SessionErrorCode> = new Map([
  [-2, 'ROLLED_BACK'],
  [-4, 'CONNECTION_LOSS'],
  [-6, 'UNIMPLEMENTED'],
  [-8, 'BAD_ARGUMENTS'],
  [-101, 'NO_NODE'],
  [-102, 'NO_AUTH'],
  [-103, 'BAD_VERSION'],
  [-108, 'NO_CHILDREN_FOR_EPHEMERALS'],
  [-110, 'NODE_EXISTS'],
  [-111, 'NOT_EMPTY'],
  [-112, 'SESSION_EXPIRED'],
  [-114, 'INVALID_ACL'],
  [-115, 'AUTH_FAILED'],
  [-118, 'CONNECTION_LOSS'],
  [-119, 'READ_ONLY'],
  [-120, 'LOCAL_SESSION'],
  [-121, 'NO_WATCHER'],
  [AUTHENTICATION_REQUIRED, 'AUTH_FAILED'],
  [-125, 'QUOTA_EXCEEDED'],
  [-127, 'THROTTLED'],
]);

/** The error that the port rejects with. `code` is the contract, the text is for people. */
export class SessionError extends Error {
  override readonly name = 'SessionError';

  constructor(
    readonly code: SessionErrorCode,
    message: string,
    readonly path?: string,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }

  /** Whether the request may have been carried out although no answer came. */
  get outcomeUnknown(): boolean {
    return this.code === 'CONNECTION_LOSS' || this.code === 'SESSION_EXPIRED' || this.code === 'CLOSED';
  }
}

/**
 * The longest answer that is kept, enough for 70 000 contenders of one queue. All answers of a session come in one
 * stream, so parsing a longer one would delay the answers behind it, and the event loop. Its bytes are read past and
 * dropped.
 */
export const MAX_ANSWER_BYTES = 4 * 1024 * 1024;

const BYTES_PER_MEGABYTE = 2 ** 20;

/** The answer to a read was too long to be kept. Nothing else suffers, and the connection goes on. */
export class TooLargeAnswerError extends SessionError {
  constructor(
    path: string,
    /** The number of children of a listed node; undefined where the node's data was read. */
    readonly children: number | undefined,
    readonly bytes: number,
  ) {
    const what = children === undefined ? 'data of' : `${children} children, whose names take`;
    const [has, most] = [bytes, MAX_ANSWER_BYTES].map((size) => `${(size / BYTES_PER_MEGABYTE).toFixed(1)} MB`);
    super('TOO_LARGE', `${path} has ${what} ${has}, and answers of more than ${most} are not accepted`, path);
  }
}

/** @returns what the error number of a reply means */
export function codeOf(number: number): SessionErrorCode {
  return CODE_BY_NUMBER.get(number) ?? 'SERVER_ERROR';
}

/** Turns the error number of a reply into the error a caller sees. */
export function serverError(number: number, operation: string, path: string | undefined): SessionError {
  const code = codeOf(number);
  const subject = path === undefined ? operation : `${operation} ${path}`;
  return new SessionError(code, `ZooKeeper answered ${code} (${number}) to: ${subject}`, path);
}

/** Whether `outcome` of a batch is an error with this code. */
export function failedWith(outcome: unknown, code: SessionErrorCode): outcome is SessionError {
  return outcome instanceof SessionError && outcome.code === code;
}

/** Whether the same request may succeed once the link is up again or the server is less busy. */
export function isAboutTheLink({ code, outcomeUnknown }: SessionError): boolean {
  return outcomeUnknown || code === 'NOT_CONNECTED' || code === 'THROTTLED';
}

/** Whether the servers refused the request because of who sent it. Sending it again changes nothing. */
export function isAboutAccess({ code }: SessionError): boolean {
  return code === 'NO_AUTH' || code === 'AUTH_FAILED' || code === 'INVALID_ACL';
}

/** Says why the servers refused access, and what to do. `subject` is what the caller wanted to use. */
export function describeDenial({ code }: SessionError, subject: string): string {
  switch (code) {
    case 'INVALID_ACL':
      return (
        `ZooKeeper refuses the acl for ${subject}: with 'creator' the servers must know this client, by auth or by a certificate ` +
        'that they ask for (ssl.clientAuth), and in a list they must know each scheme and id'
      );
    case 'AUTH_FAILED':
      return `ZooKeeper denies access to ${subject}: it refuses these credentials. Check auth`;
    default:
      return (
        `ZooKeeper denies access to ${subject}: this node, or one above it, belongs to clients with other credentials. Use ` +
        "theirs (auth, or the certificate in tls), or a namespace of your own; setAcl changes the nodes' acl"
      );
  }
}
