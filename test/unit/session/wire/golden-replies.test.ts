import { describe, expect, it } from '@jest/globals';
import { SessionError } from '../../../../lib/session/errors.js';
import type { LinkRequest } from '../../../../lib/session/core/link.js';
import { check, create, exists, get, list, multi, remove, set, sync } from '../../../../lib/session/requests.js';
import { FrameInput } from '../../../../lib/session/wire/frame-input.js';
import { recordedFrame } from './recorded-frames.js';
import { RecordingListener } from './recording-listener.js';

const PARENT = '/grüße';

function connected(): { listener: RecordingListener; input: FrameInput; sessionId: bigint } {
  const listener = new RecordingListener();
  const input = new FrameInput(listener);
  input.push(recordedFrame('handshake').reply);
  return { listener, input, sessionId: listener.handshakes[0]?.sessionId ?? 0n };
}

/** What the recorded reply of this name says to this request. */
function told(name: string, request: LinkRequest) {
  const { listener, input, sessionId } = connected();
  const { reply, events } = recordedFrame(name);
  listener.requests.push(request);
  input.push(Buffer.concat([...events, reply]));
  expect(listener.replies).toHaveLength(1);
  return { ...listener.replies[0], zxid: reply.readBigInt64BE(8), events: listener.events, input, sessionId };
}

describe('an event that carries its transaction, as ZooKeeper 3.9 sends it', () => {
  it('leaves the number that is offered on reconnect alone: more events of that transaction may have been lost', () => {
    const { input, listener } = connected();
    const { events } = recordedFrame('create under watches');
    const before = input.lastZxid;
    for (const event of events) {
      const numbered = Buffer.from(event);
      numbered.writeBigInt64BE(before + 100n, 8);
      input.push(numbered);
    }
    expect(listener.events.length).toBeGreaterThan(0);
    expect(input.lastZxid).toBe(before);
  });
});

describe('the reader of the replies of a real server', () => {
  it('understands the grant of a session', () => {
    const { listener } = connected();

    expect(listener.handshakes).toEqual([
      { timeoutMs: 4000, sessionId: expect.any(BigInt), password: expect.any(Uint8Array) },
    ]);
    expect(listener.handshakes[0]?.sessionId).toBeGreaterThan(0n);
    expect(listener.handshakes[0]?.password).toHaveLength(16);
  });

  it('understands the grant of a session without the byte about read-only servers', () => {
    const listener = new RecordingListener();
    new FrameInput(listener).push(recordedFrame('handshake without read-only').reply);

    expect(listener.handshakes[0]?.timeoutMs).toBe(4000);
  });

  it('understands that a session has expired', () => {
    const listener = new RecordingListener();
    new FrameInput(listener).push(recordedFrame('handshake expired').reply);

    expect(listener.handshakes).toEqual([{ timeoutMs: 0, sessionId: 0n, password: new Uint8Array(16) }]);
  });

  it('understands a create, with the path that was made and the stat', () => {
    const { reply, zxid, sessionId } = told(
      'create ephemeral sequential',
      create(`${PARENT}/child-`, 'ephemeral-sequential', Buffer.from('mine')),
    );

    expect(reply).toEqual({
      path: `${PARENT}/child-0000000001`,
      stat: {
        czxid: zxid,
        mzxid: zxid,
        pzxid: zxid,
        ctime: expect.any(Number),
        mtime: expect.any(Number),
        version: 0,
        cversion: 0,
        aversion: 0,
        ephemeralOwner: sessionId,
        dataLength: 4,
        numChildren: 0,
      },
    });
  });

  it('tells times in milliseconds since 1970', () => {
    const { reply } = told('exists', exists(PARENT));

    const year = new Date((reply as { ctime: number }).ctime).getUTCFullYear();
    expect(year).toBeGreaterThanOrEqual(2024);
    expect(year).toBeLessThan(2100);
  });

  it.each([
    ['create fails', create(PARENT, 'persistent'), -110],
    ['exists nothing, watched', exists(`${PARENT}/later`), -101],
    ['remove watches fails', { op: 'removeWatches', path: '/none-there', kind: 'data' } as const, -121],
  ])('hands on the error number: %s', (name, request, errorNumber) => {
    expect(told(name, request)).toMatchObject({ errorNumber });
  });

  it('understands a get with data, a list with names, both with the stat', () => {
    expect(told('get, watched', get(PARENT)).reply).toMatchObject({
      data: Buffer.from('é'),
      stat: { version: 0, dataLength: 2, numChildren: 3 },
    });
    expect(told('list, watched', list(PARENT)).reply).toMatchObject({
      children: expect.arrayContaining(['box', 'child-0000000001', 'closed']),
      stat: { numChildren: 3 },
    });
  });

  it('understands a set with the new stat, after the event for who watched', () => {
    const { reply, events } = told('set', set(PARENT, Buffer.from('new'), 0));

    expect(reply).toMatchObject({ version: 1, dataLength: 3 });
    expect(events).toEqual([{ type: 'changed', path: PARENT }]);
  });

  it('tells of nodes that come and go', () => {
    expect(told('create under watches', create(`${PARENT}/later`, 'persistent')).events).toEqual([
      { type: 'created', path: `${PARENT}/later` },
      { type: 'children', path: PARENT },
    ]);
    expect(told('delete', remove(`${PARENT}/later`)).events).toEqual([{ type: 'deleted', path: `${PARENT}/later` }]);
  });

  it.each([
    ['sync', sync(PARENT)],
    ['ping', { op: 'ping' } as const],
    ['auth', { op: 'auth', scheme: 'digest', credential: new Uint8Array() } as const],
    ['close session', { op: 'closeSession' } as const],
    ['set watches', { op: 'setWatches', relativeZxid: 0n, data: [], exists: [], children: [] } as const],
    ['remove data watches', { op: 'removeWatches', path: PARENT, kind: 'data' } as const],
  ])('finds nothing to say in the reply to %s', (name, request) => {
    expect(told(name, request)).toMatchObject({ errorNumber: 0, reply: undefined });
    expect(told(name, request)).not.toHaveProperty('thrown');
  });

  const parts = [
    create(`${PARENT}/m-`, 'ephemeral-sequential', Buffer.from('x')),
    create(`${PARENT}/m-box`, 'container'),
    set(PARENT, Buffer.from('multi')),
    check(PARENT, 2),
    remove(`${PARENT}/m-box`, 0),
  ];

  it('understands each part of a multi; the czxid of a node made in one is the transaction of the whole', () => {
    const { reply, zxid, sessionId } = told('multi', multi(parts));

    expect(reply).toMatchObject([
      {
        op: 'create',
        path: `${PARENT}/m-0000000004`,
        stat: { czxid: zxid, pzxid: zxid, version: 0, dataLength: 1, ephemeralOwner: sessionId },
      },
      { op: 'create', path: `${PARENT}/m-box`, stat: { czxid: zxid, ephemeralOwner: 0n } },
      { op: 'set', stat: { version: 2, dataLength: 5 } },
      { op: 'check' },
      { op: 'delete' },
    ]);
    expect(told('multi of nothing', multi([])).reply).toEqual([]);
  });

  it('throws the error of the part of a multi that made it fail', () => {
    const failing = multi([create(`${PARENT}/never`, 'persistent'), check(PARENT, 77), remove(`${PARENT}/closed`)]);
    const { thrown, errorNumber } = told('multi fails', failing);

    expect(errorNumber).toBe(0);
    expect(thrown).toBeInstanceOf(SessionError);
    expect(thrown).toMatchObject({ code: 'BAD_VERSION', path: PARENT });
  });

  it.each([
    ['fewer', multi(parts.slice(0, 2))],
    ['more', multi([...parts, check(PARENT)])],
    ['other', multi([...parts].reverse())],
  ])('refuses the reply to a multi with %s parts', (_, request) => {
    expect(told('multi', request).thrown).toMatchObject({ name: 'MalformedFrameError' });
  });

  it('knows the newest transaction it was told of, whatever came after it', () => {
    const { listener, input } = connected();
    expect(input.lastZxid).toBe(0n);

    input.push(recordedFrame('delete').reply);
    const newest = recordedFrame('delete').reply.readBigInt64BE(8);
    expect(input.lastZxid).toBe(newest);

    input.push(recordedFrame('auth').reply);
    input.push(recordedFrame('ping').reply);
    for (const event of recordedFrame('set').events) input.push(event);
    expect(listener.events).toHaveLength(1);
    expect(input.lastZxid).toBe(newest);
  });
});
