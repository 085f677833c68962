import { connect, Socket } from 'node:net';
import { afterAll, afterEach, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { SessionError } from '../../../lib/session/errors.js';
import { create, exists, get, list, set } from '../../../lib/session/requests.js';
import { startProxy, type FaultProxy } from '../../support/proxy/fault-proxy.js';
import { RecordingWatcher } from '../../support/sessions/recording-watcher.js';
import { StateLog } from '../../support/sessions/state-log.js';
import {
  closeOpenSessions,
  openWire,
  startFakeServer,
  untilState,
  untilUp,
} from '../../support/sessions/wire-session.js';
import { startZooKeeper, type StandaloneServer } from '../../support/zookeeper/start-zookeeper.js';
import { replyTo } from '../../support/sessions/reply-to.js';

const DATA = Buffer.from('data');

describe('Of the frames of a connection,', () => {
  let server: StandaloneServer;
  beforeAll(async () => {
    server = await startZooKeeper({ tickTimeMs: 500 });
  });
  afterEach(closeOpenSessions);
  afterAll(() => server.stop());

  async function through(
    trouble: (proxy: FaultProxy) => void,
    use: (proxy: FaultProxy) => Promise<void>,
  ): Promise<void> {
    await using proxy = await startProxy({ target: server.port });
    trouble(proxy);
    await use(proxy);
  }

  it.each<[string, (proxy: FaultProxy) => void]>([
    ['split into single bytes', (proxy) => proxy.dribble('both')],
    ['merged into few', (proxy) => proxy.coalesce(60, 'toClient')],
  ])('those that arrive %s are read all the same', async (_how, trouble) => {
    await through(trouble, async (proxy) => {
      const session = openWire([proxy.port], { sessionTimeoutMs: 10_000 });
      const states = new StateLog(session);
      const watcher = new RecordingWatcher();
      await untilUp(session);

      const outcomes = await session.batch([
        create('/split', 'ephemeral', DATA),
        get('/split', watcher),
        set('/split', Buffer.alloc(2_000, 7)),
        list('/'),
        get('/missing'),
        get('/split'),
      ]);

      expect(outcomes.map((outcome) => (outcome instanceof SessionError ? outcome.code : 'answered'))).toEqual([
        'answered',
        'answered',
        'answered',
        'answered',
        'NO_NODE',
        'answered',
      ]);
      expect(outcomes[5]).toMatchObject({ stat: { dataLength: 2_000 } });
      expect(watcher.told).toEqual(['changed /split']);
      expect(states.states).toEqual(['connecting', 'connected']);
      await session.close();
    });
  });

  it.each<[string, (body: Buffer) => Buffer]>([
    ['garbage behind its header', (body) => Buffer.concat([body.subarray(0, 16), Buffer.alloc(9, 0xff)])],
    ['nothing behind its header', (body) => body.subarray(0, 16)],
    ['half a header', (body) => body.subarray(0, 7)],
    ['the number of another request', (body) => Buffer.concat([Buffer.from([0, 0x0f, 0, 1]), body.subarray(4)])],
  ])('an answer with %s ends the connection, not the session', async (_what, changeReply) => {
    await using proxy = await startProxy({ target: server.port });
    const session = openWire([proxy.port]);
    const states = new StateLog(session);
    await untilUp(session);
    const { path, stat } = await replyTo(session, create('/malformed-', 'ephemeral-sequential', DATA));
    proxy.onRequest({ opcode: 'getData', action: { changeReply } });

    const outcomes = await session.batch([exists(path), get(path), exists(path)]);
    expect(outcomes[0]).toEqual(stat);
    expect(outcomes.slice(1)).toEqual([
      expect.objectContaining({ code: 'CONNECTION_LOSS' }),
      expect.objectContaining({ code: 'CONNECTION_LOSS' }),
    ]);
    await untilUp(session);

    expect(await replyTo(session, exists(path))).toEqual(stat);
    expect(states.states).toEqual(['connecting', 'connected', 'suspended', 'reconnected']);
    await session.close();
  });

  it.each([
    ['an answer that nobody asked for', Buffer.from('00000010000000630000000000000001' + '00000000', 'hex')],
    ['a frame longer than any server sends', Buffer.from('7fffffff', 'hex')],
    ['a negative length', Buffer.from('ffffffff', 'hex')],
  ])('%s ends the connection, not the session', async (_what, bytes) => {
    await using proxy = await startProxy({ target: server.port });
    const session = openWire([proxy.port]);
    await untilUp(session);
    const id = session.identity?.id;

    proxy.inject('toClient', bytes);
    await untilState(session, 'suspended');
    await untilUp(session);

    expect(session.identity?.id).toBe(id);
    await session.close();
  });

  it('a reply torn in two by the end of the connection is no reply', async () => {
    await using proxy = await startProxy({ target: server.port });
    const session = openWire([proxy.port]);
    await untilUp(session);
    proxy.onRequest({ opcode: 'create2', action: 'tearReply' });

    const [outcome] = await session.batch([create('/torn', 'ephemeral')]);
    expect(outcome).toMatchObject({ code: 'CONNECTION_LOSS', outcomeUnknown: true });
    await untilUp(session);

    expect(await replyTo(session, exists('/torn'))).toMatchObject({ ephemeralOwner: session.identity?.id });
    await session.close();
  });

  it('those of one batch leave in one write, with nothing in between', async () => {
    const chunks: Buffer[] = [];
    await using relay = await startFakeServer((client: Socket) => {
      const upstream = connect(server.port, '127.0.0.1');
      upstream.on('error', () => client.destroy());
      client.on('data', (chunk: Buffer) => {
        chunks.push(chunk);
        upstream.write(chunk);
      });
      upstream.pipe(client);
      client.on('close', () => upstream.destroy());
    });
    // No ping is due while the test lasts: it would be in the same write.
    const session = openWire([relay.port], { sessionTimeoutMs: 10_000, serverTickMs: 5_000 });
    await untilUp(session);
    chunks.length = 0;
    // What arrives in one piece may have left in several.
    const writing = jest.spyOn(Socket.prototype, 'write');

    try {
      await session.batch([create('/one-write', 'ephemeral', DATA), list('/'), get('/one-write')]);

      expect((writing.mock.contexts as Socket[]).filter(({ remotePort }) => remotePort === relay.port)).toHaveLength(1);
      expect(opcodesOf(Buffer.concat(chunks))).toEqual([15, 12, 4]);
    } finally {
      writing.mockRestore();
    }
    await session.close();
  });
});

/** Of the frames in these bytes: a length, the request's number, and its opcode. */
function opcodesOf(bytes: Buffer): number[] {
  const opcodes: number[] = [];
  for (let at = 0; at < bytes.length; at += 4 + bytes.readInt32BE(at)) opcodes.push(bytes.readInt32BE(at + 8));
  return opcodes;
}
