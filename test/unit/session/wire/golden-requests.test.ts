import { describe, expect, it } from '@jest/globals';
import type { LinkRequest } from '../../../../lib/session/core/link.js';
import {
  check,
  create,
  exists,
  get,
  list,
  multi,
  remove,
  set,
  sync,
  type Acl,
} from '../../../../lib/session/requests.js';
import { JuteWriter } from '../../../../lib/session/wire/jute-writer.js';
import { RequestEncoder, writeHandshake } from '../../../../lib/session/wire/requests-codec.js';
import { recordedFrame } from './recorded-frames.js';

const PARENT = '/grüße';
const OPEN: readonly Acl[] = [{ permissions: 31, scheme: 'world', id: 'anyone' }];
const CLOSED: readonly Acl[] = [
  { permissions: 31, scheme: 'auth', id: '' },
  { permissions: 1, scheme: 'world', id: 'anyone' },
];
const watcher = { onWatchEvent: () => undefined };
const setWatches = {
  op: 'setWatches',
  relativeZxid: 0x7fff_ffff_ffffn,
  data: [PARENT],
  exists: [`${PARENT}/later`, '/nowhere'],
  children: [PARENT],
} as const;

const REQUESTS: readonly (readonly [name: string, xid: number, request: LinkRequest])[] = [
  ['close session', 1, { op: 'closeSession' }],
  ['auth', -4, { op: 'auth', scheme: 'digest', credential: Buffer.from('me:pass') }],
  ['ping', -2, { op: 'ping' }],
  ['create persistent', 1, create(PARENT, 'persistent', Buffer.from('é'))],
  ['create container', 2, create(`${PARENT}/box`, 'container')],
  ['create ephemeral sequential', 3, create(`${PARENT}/child-`, 'ephemeral-sequential', Buffer.from('mine'))],
  ['create with acl', 4, create(`${PARENT}/closed`, 'persistent', undefined, CLOSED)],
  ['exists', 6, exists(PARENT)],
  ['exists nothing, watched', 7, exists(`${PARENT}/later`, watcher)],
  ['get, watched', 8, get(PARENT, watcher)],
  ['list, watched', 9, list(PARENT, watcher)],
  ['sync', 10, sync(PARENT)],
  ['set', 100, set(PARENT, Buffer.from('new'), 0)],
  ['delete', 102, remove(`${PARENT}/later`)],
  [
    'multi',
    12,
    multi([
      create(`${PARENT}/m-`, 'ephemeral-sequential', Buffer.from('x')),
      create(`${PARENT}/m-box`, 'container'),
      set(PARENT, Buffer.from('multi')),
      check(PARENT, 2),
      remove(`${PARENT}/m-box`, 0),
    ]),
  ],
  ['multi of nothing', 14, multi([])],
  ['set watches', -8, setWatches],
  ['remove data watches', 16, { op: 'removeWatches', path: PARENT, kind: 'data' }],
  ['remove children watches', 17, { op: 'removeWatches', path: PARENT, kind: 'children' }],
];

function encoded(xid: number, request: LinkRequest, chroot: string): string {
  const writer = new JuteWriter();
  writer.beginFrame();
  new RequestEncoder(writer, OPEN).encode(xid, request, chroot);
  writer.endFrame();
  return writer.written().toString('hex');
}

describe('A request', () => {
  it.each(REQUESTS)('is written as a real server accepted it: %s', (name, xid, request) => {
    expect(encoded(xid, request, '')).toBe(recordedFrame(name).request.toString('hex'));
  });

  it('puts the chroot in front of a path, and the root of the chroot is the chroot', () => {
    const expected = (name: string) => recordedFrame(name).request.toString('hex');

    expect(encoded(3, create('/child-', 'ephemeral-sequential', Buffer.from('mine')), PARENT)).toBe(
      expected('create ephemeral sequential'),
    );
    expect(encoded(8, get('/', watcher), PARENT)).toBe(expected('get, watched'));
  });

  it('is written as a real server accepted it: handshake', () => {
    const writer = new JuteWriter();
    writer.beginFrame();
    writeHandshake(writer, { lastZxid: 0n, timeoutMs: 4000, sessionId: 0n, password: new Uint8Array(16) });
    writer.endFrame();

    expect(writer.written().toString('hex')).toBe(recordedFrame('handshake').request.toString('hex'));
  });
});
