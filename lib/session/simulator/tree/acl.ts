import { createHash } from 'node:crypto';
import type { Acl } from '../../requests.js';

export const READ = 1;
export const WRITE = 2;
export const CREATE = 4;
export const DELETE = 8;

/** An identity that a connection has proved. */
export interface Identity {
  readonly scheme: string;
  readonly id: string;
}

const ANYONE: readonly Acl[] = [{ permissions: 31, scheme: 'world', id: 'anyone' }];

/** The identity behind `user:password`; undefined for a scheme that the simulator does not know. */
export function authenticate(scheme: string, credential: Uint8Array): Identity | undefined {
  if (scheme !== 'digest') return undefined;
  const text = Buffer.from(credential).toString('utf8');
  const user = text.split(':', 1)[0] ?? '';
  return { scheme, id: `${user}:${createHash('sha1').update(text).digest('base64')}` };
}

/**
 * The list that is stored for a request's list, with every identity of the caller in place of `auth`; undefined for an
 * invalid list.
 */
export function resolveAcl(
  acl: readonly Acl[] | undefined,
  identities: readonly Identity[],
): readonly Acl[] | undefined {
  if (acl === undefined) return ANYONE;
  const resolved: Acl[] = [];
  for (const entry of acl) {
    switch (entry.scheme) {
      case 'world':
        if (entry.id !== 'anyone') return undefined;
        resolved.push(entry);
        break;
      case 'auth': {
        if (identities.length === 0) return undefined;
        // `auth` stands for everything that the caller has proved to be.
        for (const { scheme, id } of identities) resolved.push({ permissions: entry.permissions, scheme, id });
        break;
      }
      case 'digest':
        if (entry.id.split(':').length !== 2) return undefined;
        resolved.push(entry);
        break;
      default:
        return undefined;
    }
  }
  return resolved.length === 0 ? undefined : resolved;
}

export function allows(acl: readonly Acl[], permission: number, identities: readonly Identity[]): boolean {
  return acl.some(
    (entry) =>
      (entry.permissions & permission) !== 0 &&
      (entry.scheme === 'world' ||
        identities.some((identity) => identity.scheme === entry.scheme && identity.id === entry.id)),
  );
}

export function anyone(): readonly Acl[] {
  return ANYONE;
}
