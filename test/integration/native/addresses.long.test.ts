import { once } from 'node:events';
import { type AddressInfo, connect as connectTo, createServer, type Server } from 'node:net';
import { pipeline } from 'node:stream';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { filter, firstValueFrom } from 'rxjs';
import { createLockService, isUp } from '../../../lib/index.js';
import { nativePackage } from '../../support/native/package-is-there.js';
import { eventually, within } from '../../support/process/eventually.js';
import { startProxy } from '../../support/proxy/fault-proxy.js';
import { type StandaloneServer, startZooKeeper } from '../../support/zookeeper/start-zookeeper.js';

const OPTIONS = { client: 'native', sessionTimeoutMs: 4_000, serverTickMs: 500 } as const;
/** The package itself never tries some servers of an even number again. */
const ROUNDS = 6;

describe("The addresses that the client 'native' hands to the package", () => {
  let server: StandaloneServer;
  const forwarders: Server[] = [];
  beforeAll(async () => {
    nativePackage();
    server = await startZooKeeper({ tickTimeMs: 500 });
  });
  afterAll(async () => {
    for (const forwarder of forwarders) forwarder.close();
    await server.stop();
  });

  /** A way to the server that is there on one address only. */
  async function listenOn(address: string): Promise<{ readonly port: number; readonly families: Set<string> }> {
    const families = new Set<string>();
    const forwarder = createServer((socket) => {
      families.add(socket.remoteFamily ?? '');
      pipeline(socket, connectTo(server.port, '127.0.0.1'), socket, () => undefined);
    }).listen(0, address);
    forwarders.push(forwarder);
    await once(forwarder, 'listening');
    return { port: (forwarder.address() as AddressInfo).port, families };
  }

  it.each([
    ['[::1]', '::1'],
    ['localhost', '::1'],
    ['localhost', '127.0.0.1'],
  ])('reach a server that is written as %s and listens on %s alone', async (host, address) => {
    const { port, families } = await listenOn(address);

    await using locks = await createLockService({ ...OPTIONS, connect: `${host}:${port}` });
    await using lock = await locks.acquire('/locks/addressed');

    expect(lock.isHeld()).toBe(true);
    expect([...families]).toEqual([address === '::1' ? 'IPv6' : 'IPv4']);
  });

  it('are tried again and again with two servers, of which one hangs up on each handshake', async () => {
    const [one, other] = [await startProxy({ target: server.port }), await startProxy({ target: server.port })];
    try {
      await using locks = await createLockService({ ...OPTIONS, connect: `${one.connect},${other.connect}` });
      for (let round = 0; round < ROUNDS; round += 1) {
        const [serving, refusing] = round % 2 === 0 ? [one, other] : [other, one];
        const down = firstValueFrom(locks.connectionState$.pipe(filter((state) => !isUp(state))));
        await serving.pass();
        await refusing.refuse({ how: 'reset' });
        for (const proxy of [one, other]) proxy.cut();
        await within(15_000, 'the link is down', down);

        await within(15_000, 'it is up again', firstValueFrom(locks.connectionState$.pipe(filter(isUp))));

        await locks.withLock('/locks/two', () => 'done');
        // The connection that found the address ends by and by.
        await eventually('one connection is left', () => serving.openConnections + refusing.openConnections === 1);
        expect(serving.openConnections).toBe(1);
      }
    } finally {
      for (const proxy of [one, other]) await proxy.stop();
    }
  });
});
