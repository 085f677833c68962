import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { readFile } from 'node:fs/promises';
import { performance } from 'node:perf_hooks';
import { eventually, within } from '../../support/process/eventually.js';
import { Stalls } from '../../support/process/stalls.js';
import { startEnsemble, type Ensemble } from '../../support/zookeeper/ensemble.js';
import type { PeerLink } from '../../support/zookeeper/peer-network.js';
import type { ZooKeeperServer } from '../../support/zookeeper/server.js';
import { rawSession, type RawClient } from './raw-client.js';

const SESSION_TIMEOUT_MS = 2_000;
const NO_NODE = -101;

describe('an ensemble', () => {
  let ensemble: Ensemble;
  const clients: RawClient[] = [];

  beforeAll(async () => {
    ensemble = await startEnsemble();
  });
  afterAll(async () => {
    for (const client of clients) client.destroy();
    await ensemble.stop();
  });

  async function sessionOn(server: ZooKeeperServer, timeoutMs = 10_000): Promise<RawClient> {
    const client = await rawSession(server.port, timeoutMs);
    clients.push(client);
    return client;
  }

  it('has a leader and followers, whose every word passes the proxies', async () => {
    const leader = await ensemble.leader();
    const followers = await ensemble.followers();
    expect(followers).toHaveLength(2);
    const client = await sessionOn(leader);
    await client.create('/written');

    for (const follower of followers) {
      const link = ensemble.links.find(
        ({ kind, from, to }) => kind === 'quorum' && from === follower.id && to === leader.id,
      );
      await eventually('the commit passed', () => (link?.packets.toClient.get('COMMIT') ?? 0) > 0);
      expect(link?.packets.toServer.get('ACK')).toBeGreaterThan(0);
      await eventually('pings are answered', () => (link?.packets.toServer.get('PING') ?? 0) > 0);
    }
    await onlyProxiesAreConnected(ensemble);
  });

  it('keeps to the proxies when a server with a lower id dials those with higher ones, who hang up and dial back', async () => {
    const [lowest] = ensemble.servers;
    await lowest?.restart();
    await ensemble.waitForQuorum();
    await onlyProxiesAreConnected(ensemble);
  });

  it('tells sessions and ephemerals on the leader and on a follower', async () => {
    const [follower] = await ensemble.followers();
    if (follower === undefined) throw new Error('No follower.');
    const client = await sessionOn(follower);
    await client.create('/mine', { ephemeral: true });
    for (const server of [follower, await ensemble.leader()]) {
      await eventually('it knows', async () => (await server.dump()).ephemerals.has(client.sessionId));
      const { sessionIds, ephemerals } = await server.dump();
      expect(sessionIds).toContain(client.sessionId);
      expect(ephemerals.get(client.sessionId)).toEqual(['/mine']);
    }
    client.destroy();
  });

  it('elects another leader when one is killed, and takes it back as a follower', async () => {
    const old = await ensemble.leader();
    await old.kill();
    const next = await ensemble.leader();
    expect(next).not.toBe(old);
    await old.start();
    expect(await ensemble.followers()).toContain(old);
  });

  it('elects another leader while one is frozen', async () => {
    const old = await ensemble.leader();
    await old.freeze();
    const next = await ensemble.leader();
    expect(next).not.toBe(old);
    await old.resume();
    await ensemble.waitForQuorum();
    expect(await old.role()).toBe('follower');
  });

  it('gives a wiped server the data of the others', async () => {
    const client = await sessionOn(await ensemble.leader());
    await client.create('/survives', { data: 'x' });
    const [follower] = await ensemble.followers();
    if (follower === undefined) throw new Error('No follower.');
    await follower.wipe();
    const onFollower = await sessionOn(follower);
    expect((await onFollower.getData('/survives')).errorCode).toBe(0);
  });

  it('holds commits to one follower, which lags behind until the release', async () => {
    const leader = await ensemble.leader();
    const [lagging, other] = await ensemble.followers();
    if (lagging === undefined || other === undefined) throw new Error('Two followers are needed.');
    const [writer, reader, otherReader] = [await sessionOn(leader), await sessionOn(lagging), await sessionOn(other)];

    const hold = ensemble.holdQuorumPackets(lagging, 'COMMIT');
    expect((await writer.create('/committed')).errorCode).toBe(0);
    await within(5_000, 'a commit is held', hold.seen);
    await eventually('others have it', async () => (await otherReader.exists('/committed')).errorCode === 0);
    expect((await reader.exists('/committed')).errorCode).toBe(NO_NODE);
    // Pings pass, so the follower is kept although it lags behind for longer than its leader would wait.
    const link = ensemble.links.find(
      ({ kind, from, to }) => kind === 'quorum' && from === lagging.id && to === leader.id,
    );
    const pings = link?.packets.toServer.get('PING') ?? 0;
    await eventually('pings pass', () => (link?.packets.toServer.get('PING') ?? 0) >= pings + 3);
    expect((await reader.exists('/committed')).errorCode).toBe(NO_NODE);

    hold.release();
    await eventually('it has caught up', async () => (await reader.exists('/committed')).errorCode === 0);
    expect(hold.heldCount).toBeGreaterThan(0);
  });

  it('holds proposals to all followers, so that a write is not answered until the release', async () => {
    const leader = await ensemble.leader();
    const writer = await sessionOn(leader);
    const hold = ensemble.holdQuorumPackets(leader, ['PROPOSAL'], 'out');
    let answered = false;
    const written = writer.create('/proposed').then((reply) => {
      answered = true;
      return reply;
    });
    await within(5_000, 'a proposal is held', hold.seen);
    expect(answered).toBe(false);
    hold.release();
    expect((await written).errorCode).toBe(0);
  });

  it('holds what a follower answers to pings: its sessions end although their clients are served', async () => {
    const leader = await ensemble.leader();
    const [follower] = await ensemble.followers();
    if (follower === undefined) throw new Error('No follower.');
    const holder = await sessionOn(follower, SESSION_TIMEOUT_MS);
    await holder.create('/untouched', { ephemeral: true });
    const observer = await sessionOn(leader);
    await observer.exists('/untouched', true);

    const hold = ensemble.holdQuorumPackets(follower, 'PING', 'out');
    const stopPinging = keepPinging(holder);
    await within(8_000, 'the node vanished', observer.notificationsReach(1));
    stopPinging();
    hold.release();
    expect(hold.heldCount).toBeGreaterThan(0);
    expect(await follower.role()).toBe('follower');
  });

  it('cuts a follower off with its client: it answers on for long after the session has ended for the others', async () => {
    const leader = await ensemble.leader();
    const [follower] = await ensemble.followers();
    if (follower === undefined) throw new Error('No follower.');
    const holder = await sessionOn(follower, SESSION_TIMEOUT_MS);
    expect(holder.timeoutMs).toBe(SESSION_TIMEOUT_MS);
    await holder.create('/held', { ephemeral: true });
    const observer = await sessionOn(leader);
    await observer.exists('/held', true);

    ensemble.isolate(follower);
    using stalls = Stalls.watch();
    const cutAt = performance.now();
    const stopPinging = keepPinging(holder);
    await within(8_000, 'the node vanished for the others', observer.notificationsReach(1));
    const goneAfterMs = performance.now() - cutAt;
    // The client still sees its node, and its pings are answered, by a server that knows nothing of all this.
    expect((await holder.exists('/held')).errorCode).toBe(0);
    await within(10_000, 'the follower gives up', holder.closed);
    const answeredForMs = performance.now() - cutAt;
    stopPinging();

    expect(goneAfterMs).toBeGreaterThan(0.7 * SESSION_TIMEOUT_MS);
    expect(goneAfterMs).toBeLessThan(2 * SESSION_TIMEOUT_MS + stalls.totalMs);
    expect(answeredForMs).toBeGreaterThan(goneAfterMs + Math.max(0, 1_000 - stalls.totalMs));
    expect(await follower.role()).toBe('none');
    expect(await ensemble.leader({ among: ensemble.others(follower) })).toBe(leader);

    ensemble.heal(follower);
    await ensemble.waitForQuorum();
    expect(await follower.role()).toBe('follower');
  });

  it('cuts a leader off: it resigns, and the others elect another', async () => {
    const old = await ensemble.leader();
    ensemble.isolate(old);
    const next = await ensemble.leader({ among: ensemble.others(old) });
    expect(next).not.toBe(old);
    await eventually('the old leader has resigned', async () => (await old.role()) === 'none');
    ensemble.heal(old);
    await ensemble.waitForQuorum();
    expect(await old.role()).toBe('follower');
  });

  it('makes a server deaf: what the leader sends does not arrive, and the follower is lost', async () => {
    const [follower] = await ensemble.followers();
    if (follower === undefined) throw new Error('No follower.');
    ensemble.isolate(follower, 'in');
    await eventually('the follower has given up', async () => (await follower.role()) === 'none');
    await ensemble.waitForQuorum({ among: ensemble.others(follower) });
    ensemble.heal(follower);
    await ensemble.waitForQuorum();
  });

  it('starts anew with nothing when all are wiped', async () => {
    const before = await sessionOn(await ensemble.leader());
    await before.create('/before');
    await ensemble.wipe();
    const after = await sessionOn(await ensemble.leader());
    expect((await after.exists('/before')).errorCode).toBe(NO_NODE);
  });
});

describe('an ensemble without proxies', () => {
  it('has servers that talk directly, and refuses what only proxies could do', async () => {
    await using ensemble = await startEnsemble({ proxies: false });
    const [follower] = await ensemble.followers();
    const client = await rawSession(follower!.port, 10_000);
    await client.create('/written');
    client.destroy();

    expect(() => ensemble.links).toThrow('was started without proxies');
    expect(() => ensemble.isolate(follower!)).toThrow('was started without proxies');
  });
});

/** Pings twice a second until told to stop or the connection ends. */
function keepPinging(client: RawClient): () => void {
  const timer = setInterval(() => {
    client.ping().catch(() => clearInterval(timer));
  }, 500);
  return () => clearInterval(timer);
}

/**
 * Two followers' quorum connections, and election connections that take in every server, each by way of a proxy, and no
 * other. One of the three election connections may be missing: a server that has found its leader dials none again that
 * broke during the election.
 */
async function onlyProxiesAreConnected(ensemble: Ensemble): Promise<void> {
  let seen = '';
  const asExpected = async (): Promise<boolean> => {
    const open = (kind: PeerLink['kind']): PeerLink[] =>
      ensemble.links.flatMap((peer) => Array<PeerLink>(peer.kind === kind ? peer.link.openConnections : 0).fill(peer));
    const [quorum, election] = [open('quorum'), open('election')];
    const voters = new Set(election.flatMap(({ from, to }) => [from, to]));
    const inAll = await connectionsTo(ensemble.peerPorts);
    seen = `${quorum.length} for the quorum and ${election.length} for elections through proxies, ${inAll} in all`;
    const areRight = quorum.length === 2 && election.length <= 3 && voters.size === ensemble.servers.length;
    return areRight && inAll === quorum.length + election.length;
  };
  await eventually('all connections between the servers are through proxies', asExpected, { explain: () => seen });
}

const ESTABLISHED = '01';

/** Established connections of this machine whose far end is one of these ports. */
async function connectionsTo(ports: readonly number[]): Promise<number> {
  const tables = await Promise.all(['tcp', 'tcp6'].map((name) => readFile(`/proc/net/${name}`, 'utf8')));
  const farPorts = tables
    .flatMap((table) => table.split('\n').slice(1))
    .map((line) => line.trim().split(/\s+/))
    .filter(([, , , state]) => state === ESTABLISHED)
    .map(([, , far]) => Number.parseInt(far?.split(':')[1] ?? '', 16));
  return farPorts.filter((port) => ports.includes(port)).length;
}
