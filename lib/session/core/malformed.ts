import { SessionError } from '../errors.js';
import { checkPath } from '../paths.js';
import type { MultiPart, Request } from '../requests.js';

/** Refuses a request, before any I/O, that a server would refuse or understand differently. */
export function malformed(request: Request, chroot: string): SessionError | undefined {
  if (request.op !== 'multi') return malformedPath(request, chroot);
  for (const part of request.parts) {
    const refusal = malformedPath(part, chroot);
    if (refusal !== undefined) return refusal;
  }
  return undefined;
}

function malformedPath(
  request: Exclude<Request, { op: 'multi' }> | MultiPart,
  chroot: string,
): SessionError | undefined {
  const { op, path } = request;
  if (op !== 'create') return checkPath(path);
  if (path === '/' && chroot !== '') {
    // The server would append the number to the chroot itself, and so create the node outside of it.
    return new SessionError('BAD_ARGUMENTS', 'A node with an empty name cannot be made directly under a chroot', path);
  }
  return checkPath(path, request.mode.endsWith('sequential'));
}
