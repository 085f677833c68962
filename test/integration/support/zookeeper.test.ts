import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { connect as connectTls, type ConnectionOptions } from 'node:tls';
import { existsSync } from 'node:fs';
import { eventually } from '../../support/process/eventually.js';
import { createCertificates, type Certificates } from '../../support/zookeeper/certificates.js';
import { startZooKeeper, type StandaloneServer } from '../../support/zookeeper/start-zookeeper.js';
import { RawClient, rawSession } from './raw-client.js';

describe('a single server', () => {
  let server: StandaloneServer;
  beforeAll(async () => {
    server = await startZooKeeper({ containerCheckIntervalMs: 200, maxSessionTimeoutMs: 6_000 });
  });
  afterAll(() => server.stop());

  it('serves as the options say', async () => {
    expect(await server.role()).toBe('standalone');
    const client = await rawSession(server.port, 60_000);
    expect(client.timeoutMs).toBe(6_000);
    client.destroy();
    expect((await server.monitor()).get('zk_server_state')).toBe('standalone');
    expect(await server.fourLetter('conf')).toContain('tickTime=500');
  });

  it('tells its sessions, ephemerals, connections and watches', async () => {
    const client = await rawSession(server.port);
    await client.create('/seen', { ephemeral: true });
    await client.exists('/seen', true);
    await client.exists('/not-yet', true);

    expect(await server.watchCount()).toBe(2);
    expect(await server.watchesByPath()).toEqual(
      new Map([
        ['/seen', [client.sessionId]],
        ['/not-yet', [client.sessionId]],
      ]),
    );
    const { sessionIds, ephemerals } = await server.dump();
    expect(sessionIds).toContain(client.sessionId);
    expect(ephemerals.get(client.sessionId)).toEqual(['/seen']);
    const connection = (await server.connections()).find(({ sessionId }) => sessionId === client.sessionId);
    expect(connection).toMatchObject({ timeoutMs: 5_000, lastOperation: 'EXIS' });
    client.destroy();
  });

  it('keeps its data and its sessions over a restart, and nothing over a wipe', async () => {
    const client = await rawSession(server.port);
    await client.create('/kept', { data: 'x' });
    await server.restart();
    const back = await rawSession(server.port);
    expect((await back.getData('/kept')).errorCode).toBe(0);
    await server.wipe();
    const anew = await rawSession(server.port);
    expect((await anew.getData('/kept')).errorCode).toBe(-101);
    anew.destroy();
  });

  it('answers nothing while frozen, and what was asked once it goes on', async () => {
    const client = await rawSession(server.port);
    await server.freeze();
    const answer = client.create('/asked-while-frozen');
    await expect(server.fourLetter('ruok', 200)).rejects.toThrow("'ruok' to 127.0.0.1");
    expect(await server.role()).toBe('none');
    await server.resume();
    expect((await answer).errorCode).toBe(0);
    client.destroy();
  });

  it('removes containers as often as it was told', async () => {
    const client = await rawSession(server.port);
    await client.request('createContainer', ...containerFields('/container'));
    await client.create('/container/child');
    await client.delete('/container/child');
    await eventually('the container is gone', async () => (await client.exists('/container')).errorCode === -101);
    client.destroy();
  });
});

describe('the end of a server', () => {
  it('leaves no process and no folder', async () => {
    const server = await startZooKeeper();
    const folder = /dataDir=(\S+?)\/data/.exec(await server.fourLetter('conf'))?.[1] ?? '';
    expect(existsSync(folder)).toBe(true);
    await server.stop();
    expect(server.isRunning).toBe(false);
    expect(existsSync(folder)).toBe(false);
    await server.stop();
  });

  it('is told with the tail of its log when it comes before the server serves', async () => {
    const start = startZooKeeper({ extraConfig: { tickTime: 'no-number' } });
    await expect(start).rejects.toThrow(/server 1 has ended[^]*NumberFormatException/);
  });
});

describe('a server with TLS', () => {
  let certificates: Certificates;
  let server: StandaloneServer;
  beforeAll(async () => {
    certificates = await createCertificates();
    server = await startZooKeeper({ tls: { certificates, clientAuth: 'need' }, superPassword: 'secret' });
  });
  afterAll(async () => {
    await server.stop();
    await certificates.remove();
  });

  const secureSession = async (options: ConnectionOptions): Promise<RawClient> => {
    const socket = connectTls({ host: '127.0.0.1', port: server.securePort, ca: certificates.ca, ...options });
    const client = new RawClient(socket);
    return client.handshake(5_000);
  };

  it('lets in a client whose certificate it trusts, under the name in it', async () => {
    const client = await secureSession(certificates.client);
    expect(client.timeoutMs).toBe(5_000);
    await eventually('its name is in the log', () =>
      server.log().includes(`Authenticated Id '${certificates.client.x509Id}'`),
    );
    client.destroy();
  });

  it('keeps out a stranger and a client without a certificate', async () => {
    const { stranger } = certificates;
    await expect(secureSession({ key: stranger.key, cert: stranger.cert })).rejects.toThrow('Connection closed');
    await expect(secureSession({})).rejects.toThrow('Connection closed');
  });

  it('serves without TLS on its other port, where the super user may do everything', async () => {
    const client = await rawSession(server.port);
    expect((await client.setData('/zookeeper/config', 'anything')).errorCode).toBe(-102);
    const reply = await client.request('auth', ...authFields('digest', 'super:secret'));
    expect(reply.errorCode).toBe(0);
    expect((await client.setData('/zookeeper/config', 'anything')).errorCode).toBe(0);
    client.destroy();
  });
});

function int(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeInt32BE(value);
  return bytes;
}

function text(value: string): Buffer {
  return Buffer.concat([int(Buffer.byteLength(value)), Buffer.from(value)]);
}

/** Path, no data, an ACL open to all, the flag of a container. */
function containerFields(path: string): Buffer[] {
  return [text(path), int(0), int(1), int(31), text('world'), text('anyone'), int(4)];
}

function authFields(scheme: string, credentials: string): Buffer[] {
  return [int(0), text(scheme), text(credentials)];
}
