import { describe, expect, it } from '@jest/globals';
import { DialerOnDemand } from '../../../../lib/session/core/dialer-on-demand.js';
import type { Dialer, Link, LinkListener } from '../../../../lib/session/core/link.js';

const SERVER = { host: 'zk1', port: 2181 };

/** Writes down what it is told, and what becomes of its links. */
function recorder() {
  const told: string[] = [];
  const note = (what: string) => () => void told.push(what);
  const listener: LinkListener = {
    onOpen: note('open'),
    onHandshake: note('handshake'),
    onActivity: note('activity'),
    onReply: note('reply'),
    onEvent: note('event'),
    onClosed: (cause) => told.push(`closed: ${cause.message}`),
  };
  const link: Link = {
    lastZxid: 7n,
    handshake: note('to the server: handshake'),
    send: () => told.push('to the server: request') > 0,
    flush: () => void told.push('to the server: all of it'),
    destroy: note('destroyed'),
  };
  const dialer: Dialer = {
    dial: (server) => {
      told.push(`dialled ${server.host}`);
      return link;
    },
  };
  return { told, listener, dialer };
}

describe('a dialer on demand', () => {
  it('dials once it is loaded, and passes everything on then', async () => {
    const { told, listener, dialer } = recorder();
    let load!: (dialer: Dialer) => void;
    const loading = new Promise<Dialer>((resolve) => (load = resolve));
    const onDemand = new DialerOnDemand(loading);
    const link = onDemand.dial(SERVER, listener);
    expect([told, link.lastZxid]).toEqual([[], 0n]);

    load(dialer);
    await loading;
    link.handshake({ lastZxid: 0n, timeoutMs: 1, sessionId: 0n, password: new Uint8Array(16) });
    expect(link.send(1, { op: 'ping' }, '')).toBe(true);
    link.destroy();

    expect(told).toEqual(['dialled zk1', 'to the server: handshake', 'to the server: request', 'destroyed']);
    expect(link.lastZxid).toBe(7n);
  });

  it('dials at once from then on', async () => {
    const { told, listener, dialer } = recorder();
    const onDemand = new DialerOnDemand(Promise.resolve(dialer));
    await Promise.resolve();
    onDemand.dial(SERVER, listener);
    expect(told).toEqual(['dialled zk1']);
  });

  it('does not dial for a link that was given up before', async () => {
    const { told, listener, dialer } = recorder();
    const loading = Promise.resolve(dialer);
    new DialerOnDemand(loading).dial(SERVER, listener).destroy();
    await loading;
    expect(told).toEqual([]);
  });

  it('tells each link why nothing could be loaded', async () => {
    const { told, listener } = recorder();
    const onDemand = new DialerOnDemand(Promise.reject(new Error('no such file')));
    onDemand.dial(SERVER, listener);
    onDemand.dial(SERVER, listener).destroy();
    await new Promise((resolve) => setImmediate(resolve));
    expect(told).toEqual(['closed: no such file']);
  });
});
