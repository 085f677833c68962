import { describe, expect, it } from '@jest/globals';
import { once } from 'node:events';
import { connect } from 'node:net';
import { performance } from 'node:perf_hooks';
import { eventually, within } from '../../support/process/eventually.js';
import { startProxy } from '../../support/proxy/fault-proxy.js';
import { onFreePort } from '../../support/proxy/ports.js';
import { fourLetterWord } from '../../support/zookeeper/four-letter.js';
import { startZooKeeper } from '../../support/zookeeper/start-zookeeper.js';
import { ProxyStage, staysSilent } from './proxy-stage.js';
import { rawConnection, rawSession } from './raw-client.js';

const stage = new ProxyStage();

describe('a link', () => {
  it('passes everything and counts bytes and connections', async () => {
    const client = await stage.session();
    await client.create(stage.freshPath());
    const { connections, bytesToServer, bytesToClient } = stage.proxy.counts();
    expect(connections).toBe(1);
    expect(bytesToServer).toBe(client.socket.bytesWritten);
    expect(bytesToClient).toBe(client.socket.bytesRead);
  });

  it('cut() ends the connections there are, and the server keeps the session', async () => {
    const client = await stage.session();
    stage.proxy.cut();
    await client.closed;
    const back = await stage.connection().handshake(5_000, client);
    expect(back.sessionId).toBe(client.sessionId);
  });

  it('reset() gives the client ECONNRESET', async () => {
    const client = await stage.session();
    const error = once(client.socket, 'error');
    stage.proxy.reset();
    expect(await error).toMatchObject([{ code: 'ECONNRESET' }]);
  });

  it('refuse() takes no new connection, and those there are go on', async () => {
    const client = await stage.session();
    await stage.proxy.refuse();
    const refused = connect(stage.proxy.port, '127.0.0.1');
    expect(await once(refused, 'error')).toMatchObject([{ code: 'ECONNREFUSED' }]);
    await client.ping();

    await stage.proxy.refuse({ how: 'reset' });
    const reset = connect(stage.proxy.port, '127.0.0.1');
    expect(await once(reset, 'error')).toMatchObject([{ code: 'ECONNRESET' }]);

    await stage.proxy.pass();
    await stage.session();
  });

  it('swallow() loses requests in silence, new connections too, until it passes again', async () => {
    const client = await stage.session();
    const path = stage.freshPath();
    stage.proxy.swallow('both');
    const lost = client.create(path);
    const settled = lost.catch((error: Error) => error.message);
    const silent = stage.connection().handshake(5_000);
    silent.catch(() => undefined);
    await staysSilent(settled);
    await staysSilent(silent);
    expect(await stage.existsOnServer(path)).toBe(false);

    await stage.proxy.pass();
    // At once, not when the server ends the session of a client it hears nothing of.
    expect(await within(2_000, 'the connection is cut', settled)).toBe('Connection closed.');
    expect((await stage.session()).timeoutMs).toBe(5_000);
  });

  it('swallow() to the client lets the server do what it is asked, and the client does not hear of it', async () => {
    const client = await stage.session();
    const path = stage.freshPath();
    stage.proxy.swallow('toClient');
    const unheard = client.create(path).catch(() => undefined);
    await eventually('the server has done it', () => stage.existsOnServer(path));
    await staysSilent(unheard);
  });

  it('swallow() to the server lets arrive what the server says', async () => {
    const client = await stage.session();
    const path = stage.freshPath();
    await client.exists(path, true);
    stage.proxy.swallow('toServer');
    const unheard = client.ping().catch(() => undefined);
    await stage.direct.create(path);
    await client.notificationsReach(1);
    await staysSilent(unheard);
  });

  it('swallow() hides the end of a connection: the server does not learn that the client has gone', async () => {
    const client = await stage.session();
    stage.proxy.swallow('both');
    client.destroy();
    await client.closed;
    const gone = async (): Promise<boolean> => !(await stage.isConnectedToServer(client.sessionId));
    await staysSilent(eventually('the server has noticed', gone));
    await stage.proxy.pass();
    await eventually('the server has noticed', gone);
  });

  it('stall() keeps everything and delivers it in order once it passes again', async () => {
    const client = await stage.session();
    const path = stage.freshPath();
    stage.proxy.stall();
    const both = Promise.all([client.create(path), client.exists(path)]);
    await staysSilent(both);
    expect(await stage.existsOnServer(path)).toBe(false);
    await stage.proxy.pass();
    expect((await both).map((reply) => reply.errorCode)).toEqual([0, 0]);
  });

  it('stall() keeps from the server a connection that came and went meanwhile', async () => {
    stage.proxy.stall();
    const hasty = stage.connection();
    const welcome = hasty.handshake(5_000);
    await staysSilent(welcome);
    hasty.destroy();
    await expect(welcome).rejects.toThrow('Connection closed');
    await stage.proxy.pass();
    await eventually('it is forgotten', () => stage.proxy.openConnections === 0);
    expect(stage.proxy.counts()).toMatchObject({ connections: 1, bytesToServer: 0 });
  });

  it('delay() makes each way longer by that much, in order', async () => {
    const client = await stage.session();
    stage.proxy.delay({ toServerMs: 60, toClientMs: 90 });
    const sentAt = performance.now();
    const path = stage.freshPath();
    const [created, found] = await Promise.all([client.create(path), client.exists(path)]);
    const tookMs = performance.now() - sentAt;
    expect([created.errorCode, found.errorCode]).toEqual([0, 0]);
    expect(tookMs).toBeGreaterThanOrEqual(150);
  });

  it('pass() ends a delay for what is under way, too', async () => {
    const client = await stage.session();
    stage.proxy.delay({ toServerMs: 3_600_000 });
    const pinged = client.ping();
    await staysSilent(pinged);
    await stage.proxy.pass();
    await pinged;
  });

  it('dribble() delivers byte by byte', async () => {
    const client = await stage.session();
    stage.proxy.dribble('both');
    client.chunkSizes.length = 0;
    expect((await client.create(stage.freshPath())).errorCode).toBe(0);
    const bytes = client.chunkSizes.reduce((sum, size) => sum + size, 0);
    expect(client.chunkSizes).toHaveLength(bytes);
  });

  it('coalesce() delivers many replies in one piece', async () => {
    const client = await stage.session();
    stage.proxy.coalesce(80, 'toClient');
    client.chunkSizes.length = 0;
    await Promise.all(Array.from({ length: 20 }, () => client.exists('/')));
    expect(client.chunkSizes).toHaveLength(1);
  });

  it('retarget() sends new connections to a server that has moved', async () => {
    await using moved = await startZooKeeper();
    stage.proxy.retarget(moved.port);
    const client = await stage.session();
    const { ephemerals, sessionIds } = await moved.dump();
    expect(sessionIds).toContain(client.sessionId);
    expect(ephemerals.size).toBe(0);
  });

  it('inject() gives the client bytes that no server sent', async () => {
    const client = await stage.session();
    const received = once(client.socket, 'data');
    stage.proxy.inject('toClient', Buffer.from([0, 0, 0, 1]));
    expect(await received).toEqual([Buffer.from([0, 0, 0, 1])]);
  });

  it('ends the connection of a client whose server is not there', async () => {
    await using lonely = await startProxy({ target: await unusedPort() });
    const client = rawConnection(lonely.port);
    await expect(client.handshake(5_000)).rejects.toThrow('Connection closed');
  });

  it('passes what has no frames if it is raw, and says so when frames are asked for', async () => {
    await using blind = await startProxy({ target: stage.server.port, raw: true });
    const client = await rawSession(blind.port);
    expect(blind.counts().bytesToClient).toBe(client.socket.bytesRead);
    expect(() => blind.onRequest({ action: 'observe' })).toThrow('raw: true');
    blind.swallow();
    await staysSilent(client.ping());
  });

  it('passes four-letter words as they are', async () => {
    expect(await fourLetterWord(stage.proxy.port, 'ruok')).toBe('imok');
  });
});

describe('a port', () => {
  it('is chosen again when somebody else was quicker', async () => {
    const taken: number[] = [];
    const listening = await onFreePort(undefined, async (port) => {
      // The first two times the port is taken between its choice and its use.
      const tried = taken.length < 2 ? stage.proxy.port : port;
      taken.push(port);
      return startProxy({ target: stage.server.port, port: tried });
    });
    expect(taken).toHaveLength(3);
    expect(listening.port).toBe(taken[2]);
    await listening.stop();
  });

  it('is refused if it was asked for and is taken', async () => {
    const { port } = stage.proxy;
    await expect(startProxy({ target: stage.server.port, port })).rejects.toMatchObject({ code: 'EADDRINUSE' });
  });
});

async function unusedPort(): Promise<number> {
  const gone = await startProxy({ target: 1 });
  await gone.stop();
  return gone.port;
}
