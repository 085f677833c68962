import { serverError, SessionError } from '../errors.js';
import { withoutChroot } from '../paths.js';
import type { Created, MultiResult, Reply } from '../requests.js';
import type { Call } from './call.js';
import type { LinkRequest, ReplyBody } from './link.js';

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
  const error = serverError(errorNumber, call.request.op, call.path);
  // "No such node" is a regular answer to `exists`, not an error.
  return call.request.op === 'exists' && error.code === 'NO_NODE' ? undefined : error;
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
