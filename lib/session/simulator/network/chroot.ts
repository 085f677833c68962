import type { LinkRequest } from '../../core/link.js';
import { type Acl, dataOf, type MultiPart } from '../../requests.js';

function under(chroot: string, path: string): string {
  return chroot !== '' && path === '/' ? chroot : chroot + path;
}

/** Copies data, so that a caller who changes it later does not change what is on its way. */
function copyOf(data: Uint8Array): Uint8Array {
  return Uint8Array.from(data);
}

function partUnder(chroot: string, acl: readonly Acl[] | undefined, part: MultiPart): MultiPart {
  const path = under(chroot, part.path);
  switch (part.op) {
    case 'create':
      return { ...part, path, acl: part.acl ?? acl, data: dataOf(part) };
    case 'set':
      return { ...part, path, data: copyOf(part.data) };
    case 'delete':
    case 'check':
      return { ...part, path };
  }
}

/**
 * The request as the server gets it: `chroot` in front of every path, `acl` for creates that name none, and no data
 * shared with the caller.
 */
export function requestUnder(chroot: string, acl: readonly Acl[] | undefined, request: LinkRequest): LinkRequest {
  switch (request.op) {
    case 'create':
    case 'set':
    case 'delete':
      return partUnder(chroot, acl, request) as typeof request;
    case 'multi':
      return { ...request, parts: request.parts.map((part) => partUnder(chroot, acl, part)) };
    case 'exists':
    case 'get':
    case 'list':
    case 'sync':
    case 'removeWatches':
      return { ...request, path: under(chroot, request.path) };
    case 'setWatches':
      return {
        ...request,
        data: request.data.map((path) => under(chroot, path)),
        exists: request.exists.map((path) => under(chroot, path)),
        children: request.children.map((path) => under(chroot, path)),
      };
    case 'auth':
    case 'ping':
    case 'closeSession':
      return request;
  }
}
