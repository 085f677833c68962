import type { LinkRequest } from '../../core/link.js';
import type { MultiPart } from '../../requests.js';

/** The default `jute.maxbuffer` of servers. A larger frame costs the connection. */
export const MAX_FRAME_BYTES = 0xf_ffff;

const HEADER_BYTES = 8;
const INT_BYTES = 4;
const MULTI_HEADER_BYTES = 9;
const REPLY_HEADER_BYTES = 16;
const STAT_BYTES = 68;

function stringBytes(text: string): number {
  return INT_BYTES + Buffer.byteLength(text);
}

function partBytes(part: MultiPart): number {
  const path = stringBytes(part.path);
  switch (part.op) {
    case 'create': {
      const acl = (part.acl ?? []).reduce(
        (sum, { scheme, id }) => sum + INT_BYTES + stringBytes(scheme) + stringBytes(id),
        0,
      );
      return path + INT_BYTES + Buffer.byteLength(part.data ?? '') + INT_BYTES + acl + INT_BYTES;
    }
    case 'set':
      return path + INT_BYTES + part.data.length + INT_BYTES;
    case 'delete':
    case 'check':
      return path + INT_BYTES;
  }
}

/** The length of a request's frame (its paths with the chroot) on a real wire, without the length field. */
export function frameBytes(request: LinkRequest): number {
  switch (request.op) {
    case 'create':
    case 'set':
    case 'delete':
      return HEADER_BYTES + partBytes(request);
    case 'multi':
      return request.parts.reduce(
        (sum, part) => sum + MULTI_HEADER_BYTES + partBytes(part),
        HEADER_BYTES + MULTI_HEADER_BYTES,
      );
    case 'setWatches': {
      const paths = [...request.data, ...request.exists, ...request.children];
      return paths.reduce((sum, path) => sum + stringBytes(path), HEADER_BYTES + 8 + 3 * INT_BYTES);
    }
    case 'exists':
    case 'get':
    case 'list':
    case 'sync':
    case 'removeWatches':
      return HEADER_BYTES + stringBytes(request.path) + INT_BYTES;
    case 'auth':
      return HEADER_BYTES + 2 * INT_BYTES + stringBytes(request.scheme) + request.credential.length;
    case 'ping':
    case 'closeSession':
      return HEADER_BYTES;
  }
}

/** The length of the frame of a list answer with these names. */
export function listBytes(names: readonly string[]): number {
  return names.reduce((sum, name) => sum + stringBytes(name), REPLY_HEADER_BYTES + INT_BYTES + STAT_BYTES);
}
