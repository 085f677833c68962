import { performance } from 'node:perf_hooks';
import { eventually } from '../process/eventually.js';
import { Stalls } from '../process/stalls.js';
import type { ZooKeeperServer } from '../zookeeper/server.js';
import type { LockClient } from './lock-client.js';
import type { LockStage } from './lock-stage.js';
import { TICK_MS } from './times.js';

const SESSION_TIMEOUT_MS = 5 * TICK_MS;
/** What the machine may stand still for in a round that is to show anything. */
const STALL_MS = SESSION_TIMEOUT_MS / 20;

export interface LostServer {
  /** Whether the holder, which did nothing meanwhile, still holds its lock, and has left no server that was only slow. */
  readonly kept: boolean;
  /** The machine stood still: a loss shows nothing. */
  readonly disturbed: boolean;
}

/** Plays rounds until so many show something. */
export async function playRounds<R extends LostServer>(count: number, play: () => Promise<R>): Promise<R[]> {
  const rounds: R[] = [];
  let isExcused = 0;
  while (rounds.length < count) {
    const round = await play();
    if (round.kept || !round.disturbed) rounds.push(round);
    else if ((isExcused += 1) > count) throw new Error('The machine stands still too often to show anything');
  }
  return rounds;
}

/** A holder that idles on a follower loses that follower, at some instant between two heartbeats. */
export async function loseItsFollower(stage: LockStage, how: 'in silence' | 'with a reset'): Promise<LostServer> {
  const client = await stage.open({ sessionTimeoutMs: SESSION_TIMEOUT_MS, serverTickMs: TICK_MS });
  const server = await moveToFollower(stage, client);
  const key = stage.freshKey();
  const lock = await client.service.acquire(key);
  await until(performance.now() + SESSION_TIMEOUT_MS * (0.5 + Math.random()));

  using stalls = Stalls.watch();
  if (how === 'in silence') await server.freeze();
  else await server.kill();
  const lostAt = performance.now();
  await until(lostAt + SESSION_TIMEOUT_MS);
  const kept = lock.isHeld();
  const disturbed = stalls.totalMs > STALL_MS;

  if (how === 'in silence') await server.resume();
  else await server.start();
  await stage.ensemble.waitForQuorum();
  await lock.release();
  await client.untilUp();
  await client.service.close();
  return { kept, disturbed };
}

/** A holder that idles on a follower, which pauses as for a garbage collection; or 300 ms lie between the two. */
export async function slowDownItsFollower(stage: LockStage, how: 'pause' | 'network'): Promise<LostServer> {
  const client = await stage.open({ sessionTimeoutMs: SESSION_TIMEOUT_MS, serverTickMs: TICK_MS });
  const server = await moveToFollower(stage, client);
  const lock = await client.service.acquire(stage.freshKey());
  await until(performance.now() + SESSION_TIMEOUT_MS * (0.5 + Math.random()));

  using stalls = Stalls.watch();
  let left = false;
  const subscription = client.service.connectionState$.subscribe((state) => (left ||= state === 'suspended'));
  if (how === 'pause') {
    await server.freeze();
    await until(performance.now() + 0.3 * SESSION_TIMEOUT_MS);
    await server.resume();
  } else for (const proxy of client.proxies) proxy.delay({ toServerMs: 150, toClientMs: 150 });
  await until(performance.now() + 2 * SESSION_TIMEOUT_MS);
  subscription.unsubscribe();
  const result = { kept: lock.isHeld() && !left, disturbed: stalls.totalMs > STALL_MS };
  await client.pass();
  await client.service.close();
  return result;
}

async function moveToFollower(stage: LockStage, client: LockClient): Promise<ZooKeeperServer> {
  const { ensemble } = stage;
  return eventually('it is connected to a follower', async () => {
    await client.untilUp();
    for (const follower of await ensemble.followers()) {
      const connections = await follower.connections();
      if (connections.some(({ sessionId }) => sessionId === client.sessionId())) return follower;
    }
    client.cut();
    await client.untilState((state) => state === 'suspended', 500).catch(() => undefined);
    return undefined;
  });
}

function until(at: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, Math.max(0, at - performance.now())));
}
