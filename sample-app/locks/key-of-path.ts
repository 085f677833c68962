import { BadRequestException } from '@nestjs/common';

const ROOT = '/locks/';

/**
 * The key that a URL names: the keys of this application are its paths, `/locks/files/journal`. The router has decoded
 * the segments, the placeholders of `@Locked` encode them.
 */
export function keyOfPath(segments: string | readonly string[]): string {
  const list = typeof segments === 'string' ? segments.split('/') : segments;
  return ROOT + list.map((segment) => encodeURIComponent(segment)).join('/');
}

/** The rest of the ensemble's nodes are none of our visitors' business. */
export function checkedKey(key: string): string {
  if (key.startsWith(ROOT)) return key;
  throw new BadRequestException(`A key of this application starts with ${ROOT}, and ${key} does not`);
}
