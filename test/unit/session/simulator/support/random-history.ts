import { expect } from '@jest/globals';
import { create, exists, list, remove, set, type Created } from '../../../../../lib/session/requests.js';
import { SeededRandom } from '../../../../../lib/session/simulator/time/random.js';
import { SimulatedWorld } from '../../../../support/simulation/simulated-world.js';
import { NEW_SESSION, RawClient } from './raw-client.js';

const TICK_MS = 100;
const STEPS = 60;

interface Acknowledged {
  readonly path: string;
  readonly czxid: bigint;
  readonly sentAt: number;
  readonly answeredAt: number;
}

/** A few clients and a fault-ridden ensemble of three; checks what holds in every one. Says how many writes were answered. */
export async function randomHistory(seed: number): Promise<number> {
  const random = new SeededRandom(seed).fork('history');
  const world = new SimulatedWorld({
    seed,
    servers: 3,
    tickMs: TICK_MS,
    clientLatencyMs: [0, 3],
    peerLatencyMs: [0, 3],
    logMs: [0, 3],
    electionMs: [20, 60],
  });
  const acknowledged: Acknowledged[] = [];
  const clients: RawClient[] = [];
  await connect(world, clients, 'root', 1);
  await clients[0]?.ask(create('/q', 'persistent'));

  for (let step = 0; step < STEPS; step += 1) {
    if (random.integer(6) === 0) strike(world, random);
    if (random.integer(10) === 0) mend(world);
    if (random.integer(3) === 0) {
      const session = clients[random.integer(2 * clients.length)];
      await connect(world, clients, session?.process.name ?? `client ${step}`, 1 + random.integer(3), session);
    }
    for (const client of clients) {
      if (client.closed === undefined && random.integer(2) === 0) act(world, client, random, acknowledged);
    }
    await world.runFor(random.integer(80));
  }
  await recover(world);
  check(world, acknowledged, seed);
  return acknowledged.length;
}

/** Opens a session, or moves one. */
async function connect(
  world: SimulatedWorld,
  clients: RawClient[],
  name: string,
  serverId: number,
  moving?: RawClient,
): Promise<void> {
  const client = RawClient.dial(world, name, serverId);
  await world.runFor(10);
  if (!client.isOpen || client.closed !== undefined) return;
  const { sessionId, password } = moving?.granted ?? NEW_SESSION;
  client.link.handshake({ sessionId, password, timeoutMs: 10 * TICK_MS, lastZxid: moving?.link.lastZxid ?? 0n });
  await world.runFor(40);
  if (client.granted === undefined || client.closed !== undefined) return;
  client.keepPinging(3 * TICK_MS);
  clients.push(client);
}

function act(world: SimulatedWorld, client: RawClient, random: SeededRandom, acknowledged: Acknowledged[]): void {
  const ignore = (): undefined => undefined;
  const sentAt = world.now();
  switch (random.integer(6)) {
    case 0:
      client.send(create('/q/e-', 'ephemeral-sequential')).catch(ignore);
      return;
    case 1:
      client.send(list('/q')).catch(ignore);
      return;
    case 2:
      client.send(set('/q', Buffer.from('x'))).catch(ignore);
      client.send(exists('/q')).catch(ignore);
      return;
    case 3: {
      const children = world.ensemble.isServing ? world.children('/q') : [];
      const ephemeral = children.find((name) => name.startsWith('e-'));
      if (ephemeral !== undefined) client.send(remove(`/q/${ephemeral}`)).catch(ignore);
      return;
    }
    default:
      client
        .send(create('/q/p-', 'persistent-sequential'))
        .then((reply) => {
          const { path, stat } = reply as Created;
          acknowledged.push({ path, czxid: stat.czxid, sentAt, answeredAt: world.now() });
        })
        .catch(ignore);
  }
}

function strike(world: SimulatedWorld, random: SeededRandom): void {
  const serverId = 1 + random.integer(3);
  switch (random.integer(9)) {
    case 0:
      return world.faults.killServer(serverId);
    case 1:
    case 2:
      return world.faults.startServer(serverId);
    case 3:
      return world.faults.freezeServer(serverId);
    case 4:
      return world.faults.thawServer(serverId);
    case 5:
      return world.faults.isolate(serverId);
    case 6:
      return world.faults.heal();
    case 7:
      return world.faults.lag(serverId, random.integer(100));
    default:
      return random.integer(2) === 0 ? world.faults.holdCommits() : world.faults.releaseCommits();
  }
}

function mend(world: SimulatedWorld): void {
  world.faults.releaseCommits();
  world.faults.heal();
  for (const { id } of world.ensemble.servers) {
    world.faults.lag(id, 0);
    world.faults.thawServer(id);
    world.faults.startServer(id);
  }
}

async function recover(world: SimulatedWorld): Promise<void> {
  mend(world);
  await world.runFor(20 * TICK_MS);
  await world.runUntil(() => world.ensemble.isServing && world.ensemble.isWhole, 60_000);
  // Long enough for every session whose client is gone.
  for (const { id } of world.ensemble.servers) {
    for (const connection of [...world.ensemble.server(id).connections]) connection.close('the history is over');
  }
  await world.runFor(60 * TICK_MS);
}

function check(world: SimulatedWorld, acknowledged: readonly Acknowledged[], seed: number): void {
  const about = `seed ${seed}`;
  const [first, ...others] = world.ensemble.servers.map(({ tree }) => tree);
  for (const other of others) expect({ about, nodes: other.nodes }).toEqual({ about, nodes: first?.nodes });
  const lost = acknowledged.filter(({ path, czxid }) => first?.nodes.get(path)?.czxid !== czxid);
  expect({ about, lost }).toEqual({ about, lost: [] });
  expect(new Set(acknowledged.map(({ path }) => path)).size).toBe(acknowledged.length);
  const children = [...(first?.nodes.get('/q')?.children ?? [])];
  expect({ about, ephemerals: children.filter((name) => name.startsWith('e-')) }).toEqual({ about, ephemerals: [] });
  const outOfOrder = acknowledged.filter((one) =>
    acknowledged.some((other) => one.answeredAt < other.sentAt && one.czxid >= other.czxid),
  );
  expect({ about, outOfOrder }).toEqual({ about, outOfOrder: [] });
}
