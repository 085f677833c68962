import { describe, expect, it } from '@jest/globals';
import { eventually } from '../../support/process/eventually.js';
import { frameOf } from '../../support/proxy/frames.js';
import { NO_NODE, ProxyStage, staysSilent } from './proxy-stage.js';

const DELETED = 2;

const stage = new ProxyStage();

describe('a rule for requests', () => {
  it('holdReply lets the server do it, and the client wait until the release', async () => {
    const client = await stage.session();
    const path = stage.freshPath();
    const rule = stage.proxy.onRequest({ opcode: 'create', path, action: 'holdReply' });
    const created = client.create(path);
    const behind = client.exists('/');
    expect(await rule.seen).toMatchObject({
      opcode: 'create',
      path,
      sessionId: client.sessionId,
      reply: { errorCode: 0 },
    });
    expect(await stage.existsOnServer(path)).toBe(true);
    await staysSilent(Promise.race([created, behind]));
    rule.release();
    expect((await created).errorCode).toBe(0);
    expect((await behind).errorCode).toBe(0);
  });

  it('loseReply lets the server do it, and cuts the client off without an answer', async () => {
    const client = await stage.session();
    const [first, second] = [stage.freshPath(), stage.freshPath()];
    const rule = stage.proxy.onRequest({ opcode: 'create', path: /^\/fresh-/, nth: 2, action: 'loseReply' });
    expect((await client.create(first)).errorCode).toBe(0);
    await expect(client.create(second)).rejects.toThrow('Connection closed');
    expect((await rule.seen).path).toBe(second);
    expect(rule.matches).toBe(2);
    expect(await stage.existsOnServer(second)).toBe(true);
    // Once is enough: the same request after the reconnect is answered.
    const back = await stage.connection().handshake(5_000, client);
    expect((await back.create(stage.freshPath())).errorCode).toBe(0);
  });

  it('loseReply gives what was answered before', async () => {
    const client = await stage.session();
    const path = stage.freshPath();
    stage.proxy.onRequest({ opcode: 'create', path, action: 'loseReply' });
    const before = client.exists('/');
    const lost = client.create(path);
    expect((await before).errorCode).toBe(0);
    await expect(lost).rejects.toThrow('Connection closed');
  });

  it('dropRequest keeps it from the server, and nothing before it', async () => {
    const client = await stage.session();
    const [before, dropped] = [stage.freshPath(), stage.freshPath()];
    const rule = stage.proxy.onRequest({ opcode: ['create', 'create2'], path: dropped, action: 'dropRequest' });
    const outcomes = Promise.allSettled([client.create(before), client.create(dropped)]);
    await rule.seen;
    expect((await outcomes)[1].status).toBe('rejected');
    await eventually('what came before it has arrived', () => stage.existsOnServer(before));
    expect(await stage.existsOnServer(dropped)).toBe(false);
  });

  it('holdRequest lets it wait before the server, and what is behind it, too', async () => {
    const client = await stage.session();
    const path = stage.freshPath();
    const rule = stage.proxy.onRequest({ path, action: 'holdRequest' });
    const both = Promise.all([client.create(path), client.exists('/')]);
    await rule.seen;
    await staysSilent(both);
    expect(await stage.existsOnServer(path)).toBe(false);
    rule.release();
    expect((await both)[0].errorCode).toBe(0);
  });

  it('tearReply ends the connection in the middle of a frame', async () => {
    const client = await stage.session();
    client.chunkSizes.length = 0;
    stage.proxy.onRequest({ opcode: 'getData', action: 'tearReply' });
    await expect(client.getData('/')).rejects.toThrow('Connection closed');
    const received = client.chunkSizes.reduce((sum, size) => sum + size, 0);
    expect(received).toBeGreaterThan(4);
    expect(stage.proxy.requests({ opcode: 'getData' })[0]?.reply?.errorCode).toBe(0);
  });

  it('changeReply gives the client another answer', async () => {
    const client = await stage.session();
    const changeReply = (body: Buffer): Buffer => {
      body.writeInt32BE(NO_NODE, 12);
      return body.subarray(0, 16);
    };
    stage.proxy.onRequest({ opcode: 'exists', path: '/', nth: 'every', action: { changeReply } });
    expect((await client.exists('/')).errorCode).toBe(NO_NODE);
    expect((await client.exists('/')).errorCode).toBe(NO_NODE);
    stage.proxy.releaseRules();
    expect((await client.exists('/')).errorCode).toBe(0);
  });

  it('finds the path of any operation of a multi', async () => {
    const client = await stage.session();
    const [first, second] = [stage.freshPath(), stage.freshPath()];
    const rule = stage.proxy.onRequest({ opcode: 'multi', path: second, action: 'observe' });
    await client.multiCreate(first, second);
    expect((await rule.seen).paths).toEqual([first, second]);
    expect(await stage.existsOnServer(second)).toBe(true);
  });

  it('loses the reply to a handshake: the server has a session that nobody knows', async () => {
    const rule = stage.proxy.onRequest({ opcode: 'connect', action: 'loseReply' });
    await expect(stage.connection().handshake(5_000)).rejects.toThrow('Connection closed');
    const { sessionId } = await rule.seen;
    expect((await stage.server.dump()).sessionIds).toContain(sessionId);
  });

  it('passes on what it cannot read, be it too short or nonsense', async () => {
    const client = await stage.session();
    const tooShort = frameOf(Buffer.from([0, 0, 0, 9, 0, 0, 0, 1]));
    client.socket.write(tooShort);
    await client.closed;
    expect(stage.proxy.requests({ opcode: 'unknown(0)' })).toMatchObject([{ xid: 9, path: undefined }]);

    const stranger = stage.connection();
    stranger.socket.write(frameOf(Buffer.from('x')));
    await stranger.closed;
    expect((await stage.session()).timeoutMs).toBe(5_000);
  });

  it('says on stop that it never happened', async () => {
    const rule = stage.proxy.onRequest({ opcode: 'delete', action: 'observe' });
    await stage.proxy.stop();
    await expect(rule.seen).rejects.toThrow('stopped before');
  });
});

describe('a client connection behind the proxy', () => {
  it('hears that its session expired with expireNextHandshake(), and the server keeps it', async () => {
    const client = await stage.session();
    const path = stage.freshPath();
    await client.create(path, { ephemeral: true });
    stage.proxy.cut();
    await client.closed;

    const rule = stage.proxy.expireNextHandshake();
    await stage.session();
    const told = await stage.connection().handshake(5_000, client);
    expect(told).toMatchObject({ timeoutMs: 0, sessionId: 0n });
    await told.closed;
    expect(await rule.seen).toBe(client.sessionId);

    expect((await stage.server.dump()).ephemerals.get(client.sessionId)).toEqual([path]);
    const back = await stage.connection().handshake(5_000, client);
    expect(back.sessionId).toBe(client.sessionId);
  });

  it('reaches the server with nothing with expireNextHandshake(), however long the answer takes', async () => {
    const client = await stage.session();
    stage.proxy.cut();
    await client.closed;
    stage.proxy.resetCounts();
    stage.proxy.delay({ toClientMs: 100 });

    stage.proxy.expireNextHandshake(client.sessionId);
    const told = stage.connection();
    const welcome = told.handshake(5_000, client);
    const pinged = told.ping();
    expect((await welcome).timeoutMs).toBe(0);
    await expect(pinged).rejects.toThrow('Connection closed');
    expect(stage.proxy.counts()).toMatchObject({ connections: 1, bytesToServer: 0 });
  });

  it('holds a notification, and what is behind it, until the release', async () => {
    const client = await stage.session();
    const path = stage.freshPath();
    await client.create(path);
    await client.exists(path, true);
    const rule = stage.proxy.onNotification({ type: 'deleted', path, action: 'hold' });
    await stage.direct.delete(path);
    expect(await rule.seen).toMatchObject({ type: 'deleted', path });
    await staysSilent(client.notificationsReach(1));
    rule.release();
    await client.notificationsReach(1);
    expect(client.notifications).toEqual([{ type: DELETED, path }]);
  });

  it('loses a notification with its connection', async () => {
    const client = await stage.session();
    const path = stage.freshPath();
    await client.exists(path, true);
    stage.proxy.onNotification({ path, action: 'lose' });
    await stage.direct.create(path);
    await client.closed;
    expect(client.notifications).toEqual([]);
  });

  it('counts requests and notifications, and forgets them when told', async () => {
    const client = await stage.session();
    const path = stage.freshPath();
    await client.exists(path, true);
    await client.create(path);
    await client.ping();
    await client.notificationsReach(1);

    expect(stage.proxy.counts()).toMatchObject({
      requests: { connect: 1, exists: 1, create: 1, ping: 1 },
      notifications: { created: 1 },
      notificationsByPath: { [path]: 1 },
    });
    const [created] = stage.proxy.requests({ opcode: 'create' });
    expect(created).toMatchObject({ path, connectionId: 1, sessionId: client.sessionId });
    expect(created?.reply?.at).toBeGreaterThanOrEqual(created?.at ?? Infinity);
    expect(stage.proxy.notifications({ path })).toHaveLength(1);

    stage.proxy.resetCounts();
    expect(stage.proxy.counts()).toMatchObject({ connections: 0, requests: {}, notifications: {} });
    expect(stage.proxy.requests()).toEqual([]);
  });
});
