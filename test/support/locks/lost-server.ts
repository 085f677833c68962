import type { LockHandle } from '../../../lib/lock/handle.js';
import { eventually } from '../process/eventually.js';
import { Stalls } from '../process/stalls.js';
import type { ZooKeeperServer } from '../zookeeper/server.js';
import type { LockClient } from './lock-client.js';
import type { LockStage } from './lock-stage.js';
import { slowestAnswer } from './slowest-answer.js';
import { untilPassed } from './witness.js';

/** As servers usually have it: with a shorter one, a busy machine is slower than a session of five ticks can bear. */
export const LOST_SERVER_TICK_MS = 2_000;
const SESSION_TIMEOUT_MS = 5 * LOST_SERVER_TICK_MS;
const OPTIONS = { sessionTimeoutMs: SESSION_TIMEOUT_MS, serverTickMs: LOST_SERVER_TICK_MS };
const HEARTBEAT_EVERY_MS = SESSION_TIMEOUT_MS / 4;
/** The longest that a server may leave a request unanswered, for its holder not to leave it. */
const SLOW_MS = SESSION_TIMEOUT_MS / 3;
const PAUSE_MS = SESSION_TIMEOUT_MS / 4;
const WAY_MS = 0.06 * SESSION_TIMEOUT_MS;
/** Slower answers of the other servers, or a longer stall of this process, show nothing of those who lose a lock. */
const STALL_MS = SESSION_TIMEOUT_MS / 20;

export interface LostServer {
  /** Whether the holder, which did nothing meanwhile, still holds its lock, and has left no server that was only slow. */
  readonly kept: boolean;
  /** The machine was slower than what is under test: a loss shows nothing. */
  readonly disturbed: boolean;
}

/** Plays until so many holders have shown something. */
export async function playHolders(
  count: number,
  play: (holders: number) => Promise<LostServer[]>,
): Promise<LostServer[]> {
  const shown: LostServer[] = [];
  let excused = 0;
  while (shown.length < count) {
    const played = await play(count - shown.length);
    const telling = played.filter(({ kept, disturbed }) => kept || !disturbed);
    shown.push(...telling);
    excused += played.length - telling.length;
    if (excused > count) throw new Error('The machine stands still too often to show anything');
  }
  return shown;
}

/** Holders that idle on one follower lose it, each at another instant between two heartbeats. */
export async function loseTheirFollower(
  stage: LockStage,
  holders: number,
  how: 'in silence' | 'with a reset',
): Promise<LostServer[]> {
  const server = await aFollower(stage);
  const witness = await stage.open({ ...OPTIONS, only: stage.ensemble.others(server) });
  const holding = await holdOn(stage, server, holders);

  using stalls = Stalls.watch();
  if (how === 'in silence') await server.freeze();
  else await server.kill();
  const slowestMs = await slowestAnswer(witness, SESSION_TIMEOUT_MS);
  const disturbed = Math.max(slowestMs, stalls.longestMs) > STALL_MS;
  const outcomes = holding.map(({ lock }) => ({ kept: lock.isHeld(), disturbed }));

  if (how === 'in silence') await server.resume();
  else await server.start();
  await stage.ensemble.waitForQuorum();
  await Promise.all([...holding.map(({ client }) => client), witness].map((client) => leave(client)));
  return outcomes;
}

/** Holders that idle on one follower, which pauses as for a garbage collection; or there is a long way between them. */
export async function slowDownTheirFollower(
  stage: LockStage,
  holders: number,
  how: 'pause' | 'network',
): Promise<LostServer[]> {
  const server = await aFollower(stage);
  const witness = await stage.open({ ...OPTIONS, only: [server] });
  const holding = await holdOn(stage, server, holders);
  const left = new Set<LockClient>();
  for (const { client } of holding) {
    client.service.connectionState$.subscribe((state) => void (state === 'suspended' && left.add(client)));
  }

  using stalls = Stalls.watch();
  const slowest = slowestAnswer(witness, SESSION_TIMEOUT_MS);
  if (how === 'pause') {
    await server.freeze();
    await untilPassed(PAUSE_MS);
    await server.resume();
  } else
    for (const { client } of holding)
      for (const proxy of client.proxies) proxy.delay({ toServerMs: WAY_MS, toClientMs: WAY_MS });
  // The witness is at the same server by a short way.
  const unansweredMs = (await slowest) + (how === 'pause' ? 0 : 2 * WAY_MS);
  const disturbed = unansweredMs + stalls.longestMs > SLOW_MS;
  const outcomes = holding.map(({ client, lock }) => ({ kept: lock.isHeld() && !left.has(client), disturbed }));
  await Promise.all([...holding.map(({ client }) => client), witness].map((client) => leave(client)));
  return outcomes;
}

async function aFollower(stage: LockStage): Promise<ZooKeeperServer> {
  const [follower] = await stage.ensemble.followers();
  if (follower === undefined) throw new Error('There is no follower.');
  return follower;
}

interface Holding {
  readonly client: LockClient;
  readonly lock: LockHandle;
}

/** Holders on this server, whose heartbeats are spread evenly over the time between two of one. */
async function holdOn(stage: LockStage, server: ZooKeeperServer, holders: number): Promise<Holding[]> {
  const clients = await Promise.all(Array.from({ length: holders }, () => openOn(stage, server)));
  const holding = await Promise.all(
    clients.map(async (client, index) => {
      await untilPassed(((index + Math.random()) / holders) * HEARTBEAT_EVERY_MS);
      return { client, lock: await client.service.acquire(stage.freshKey()) };
    }),
  );
  await untilPassed(2 * HEARTBEAT_EVERY_MS);
  return holding;
}

async function openOn(stage: LockStage, server: ZooKeeperServer): Promise<LockClient> {
  const client = await stage.open({ ...OPTIONS, untilUp: false });
  const elsewhere = client.proxies.filter((_proxy, at) => stage.servers[at] !== server);
  await Promise.all(elsewhere.map((proxy) => proxy.refuse()));
  for (const proxy of elsewhere) proxy.cut();
  const isThere = (): boolean =>
    client.proxies.some((proxy) => !elsewhere.includes(proxy) && proxy.openConnections > 0);
  await eventually('it is connected to the follower', async () => (await client.untilUp(), isThere()));
  await Promise.all(elsewhere.map((proxy) => proxy.pass()));
  return client;
}

async function leave(client: LockClient): Promise<void> {
  await client.pass();
  await client.untilUp();
  await client.service.close();
}
