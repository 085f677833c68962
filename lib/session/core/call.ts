import { codeOf, serverError, SessionError } from '../errors.js';
import { withoutChroot } from '../paths.js';
import type { Created, MultiResult, Reply, Watcher } from '../requests.js';
import type { LinkRequest, RemovableWatch, ReplyBody } from './link.js';

const MAX_XID = 0x7fff_ffff;

/**
 * Request numbers stay in the positive half of 32 bits, because servers give a meaning to some of the negative ones.
 */
export function nextXid(xid: number): number {
  // Zero is left out: the numbering starts again at 1.
  return xid === MAX_XID ? 1 : xid + 1;
}

/** One request on its way. `settle` is called once, with what came of it. */
export class Call {
  xid = 0;
  sentAt = 0;
  /** How many answers the connection had brought when this request was sent. */
  sentAfter = 0;
  /** The number of this request's answer on its connection, counted from 1. */
  answer = 0;
  /** The watcher was taken back before the answer came. */
  unwatched = false;
  /** A request that removes the watch was sent behind this one, so nothing is left to do when the answer comes. */
  isRemovedBehind = false;

  /** @param settle nothing by default, for a request after whose failure there is nothing left to do */
  constructor(
    readonly request: LinkRequest,
    readonly settle: (outcome: Reply | SessionError) => void = () => undefined,
  ) {}

  get path(): string | undefined {
    return 'path' in this.request ? this.request.path : undefined;
  }

  get watcher(): Watcher | undefined {
    return 'watch' in this.request ? this.request.watch : undefined;
  }

  /** The table in which the server keeps the watch that this call asks for. */
  get watchTable(): RemovableWatch | undefined {
    const { op } = this.request;
    if (op === 'list') return 'children';
    return op === 'get' || op === 'exists' ? 'data' : undefined;
  }
}

/** Sends requests back to back. They share one promise, which resolves with the outcome of each and never rejects. */
export function sendTogether<R extends LinkRequest>(
  requests: readonly R[],
  send: (call: Call, request: R) => void,
): Promise<(Reply | SessionError)[]> {
  const outcomes = new Array<Reply | SessionError>(requests.length);
  let open = requests.length;
  return new Promise((resolve) => {
    if (open === 0) resolve(outcomes);
    requests.forEach((request, index) => {
      const call = new Call(request, (outcome) => {
        outcomes[index] = outcome;
        open -= 1;
        if (open === 0) resolve(outcomes);
      });
      send(call, request);
    });
  });
}

/**
 * Turns a reply into what its caller gets.
 * @throws when the bytes make no sense, which ends the connection and not only the call
 */
export function readOutcome(call: Call, errorNumber: number, body: ReplyBody, chroot: string): Reply | SessionError {
  if (errorNumber === 0) {
    try {
      const reply = body.read(call.request);
      return chroot === '' ? reply : relativeTo(chroot, call.request, reply);
    } catch (error) {
      if (error instanceof SessionError) return error;
      throw error;
    }
  }
  const { op } = call.request;
  // "No such node" is a regular answer to `exists`. An error, which has a stack, would take longer to make than all else here.
  if (op === 'exists' && codeOf(errorNumber) === 'NO_NODE') return undefined;
  return serverError(errorNumber, op, call.path);
}

/** The error of a call whose answer will not come any more. */
export function connectionLoss(call: Call, cause: unknown): SessionError {
  const subject = call.path === undefined ? call.request.op : `${call.request.op} ${call.path}`;
  const text = `The connection was lost before the answer to: ${subject}; it may or may not have been carried out`;
  return new SessionError('CONNECTION_LOSS', text, call.path, { cause });
}

/** The reply with the server's paths turned into the caller's. Only creates answer with paths. */
function relativeTo(chroot: string, request: LinkRequest, reply: Reply): Reply {
  if (request.op === 'create') return relativeCreated(chroot, reply as Created);
  if (request.op !== 'multi') return reply;
  return (reply as readonly MultiResult[]).map((result) =>
    result.op === 'create' ? { op: 'create', ...relativeCreated(chroot, result) } : result,
  );
}

function relativeCreated(chroot: string, { path, stat }: Created): Created {
  return { path: withoutChroot(chroot, path), stat };
}
