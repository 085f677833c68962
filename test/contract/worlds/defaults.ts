import type { Acl } from '../../../lib/session/requests.js';

export const ANYONE: readonly Acl[] = [{ permissions: 31, scheme: 'world', id: 'anyone' }];

export const DEFAULTS = { chroot: '', namespace: '', auth: [], acl: ANYONE } as const;
