import { performance } from 'node:perf_hooks';
import { expect, it } from '@jest/globals';
import type { LockHandle } from '../../../lib/lock/handle.js';
import { eventually, within } from '../process/eventually.js';
import { Stalls } from '../process/stalls.js';
import type { ZooKeeperServer } from '../zookeeper/server.js';
import type { LockClient } from './lock-client.js';
import { LockStage } from './lock-stage.js';
import { TICK_MS } from './times.js';
import { untilPassed } from './witness.js';

const STALLED_SESSION_MS = 5 * TICK_MS;
/** Longer than a tick: what was answered to the client a tick before the commit is news to the leader. */
const STALL_MS = 1.33 * TICK_MS;
const UNTIL_CUT_OFF_MS = 20;
/** How long before the heartbeat's answer the leader's last ping was: it misses most of what came since. */
const PINGED_BEFORE_MS = { min: 120, max: 240 };
const HAND_OVER_WITHIN_MS = 30_000;
const TRIAL_WITHIN_MS = 120_000;

interface Trial {
  /** For how long the holder believed in its lock when the next one had it; 0 if it did not. */
  readonly besideMs: number;
  /** For how long the machine stood still meanwhile. */
  readonly stalledMs: number;
}

/** Defines so many trials: the phases of the servers' pings are another each time. */
export function oneHolderWhenTheLeaderStalls(trials: number): void {
  const stage = new LockStage(3);

  it.each(Array.from({ length: trials }, (_, index) => index + 1))(
    'nobody else holds when the way from the leader recovers from a stall and the way back is cut (trial %d)',
    async () => {
      const { besideMs, stalledMs } = await stallTheLeader(stage);
      expect(besideMs).toBeLessThanOrEqual(stalledMs);
    },
    TRIAL_WITHIN_MS,
  );
}

/**
 * The way from the leader to the holder's server stalls, and as it recovers the way back is cut: the leader's pings arrive
 * late, together with the commit of a heartbeat, and the answers to them never do. Then server and holder are cut off.
 */
async function stallTheLeader(stage: LockStage): Promise<Trial> {
  const leader = await stage.ensemble.leader();
  const [follower] = (await stage.ensemble.followers()) as [ZooKeeperServer];
  const holder = await stage.open({ only: [follower], sessionTimeoutMs: STALLED_SESSION_MS });
  const others = stage.ensemble.others(follower);
  const next = await stage.open({ only: others, waitMs: 2 * HAND_OVER_WITHIN_MS });
  const { lock, waiting } = await stage.contend(holder, next);
  await untilItIsTheMoment(stage, holder, { leader, follower });

  using stalls = Stalls.watch();
  try {
    const stalledAt = performance.now();
    stage.ensemble.isolate(follower, 'in');
    await untilPassed(STALL_MS, stalledAt);
    stage.ensemble.isolate(follower, 'out');
    await untilPassed(UNTIL_CUT_OFF_MS);
    stage.ensemble.isolate(follower);
    const besideMs = await within(
      HAND_OVER_WITHIN_MS,
      'the hand-over',
      waiting.then(() => heldFor(lock)),
    );
    return { besideMs, stalledMs: stalls.totalMs };
  } finally {
    stage.ensemble.heal(follower);
    await stage.ensemble.waitForQuorum();
    await holder.untilUp();
    await lock.release();
    await waiting.then((granted) => granted.release());
  }
}

/** The holder's heartbeat was just answered, and the leader's last ping was so long before. */
async function untilItIsTheMoment(
  stage: LockStage,
  holder: LockClient,
  { leader, follower }: { readonly leader: ZooKeeperServer; readonly follower: ZooKeeperServer },
): Promise<void> {
  const link = stage.ensemble.links.find(
    ({ from, to, kind }) => kind === 'quorum' && from === follower.id && to === leader.id,
  );
  const pings = (): number => link?.packets.toClient.get('PING') ?? 0;
  const beats = (): number => holder.heartbeats().filter(({ reply }) => reply !== undefined).length;
  let seen = { pings: pings(), beats: beats(), pingedAt: performance.now() };
  const isNow = async (): Promise<boolean> => {
    const now = performance.now();
    const pingedAt = pings() > seen.pings ? now : seen.pingedAt;
    const wasAnswered = beats() > seen.beats;
    seen = { pings: pings(), beats: beats(), pingedAt };
    if (!wasAnswered) return false;
    const agoMs = now - pingedAt;
    if (agoMs > PINGED_BEFORE_MS.min && agoMs < PINGED_BEFORE_MS.max) return true;
    // Any write puts the next heartbeat off, to another phase of the pings.
    await untilPassed(Math.random() * TICK_MS);
    await (await holder.service.acquire(stage.freshKey())).release();
    return false;
  };
  await eventually('a heartbeat is answered long after a ping of the leader', isNow, { withinMs: 60_000, everyMs: 1 });
}

async function heldFor(lock: LockHandle): Promise<number> {
  const grantedAt = performance.now();
  if (!lock.isHeld()) return 0;
  await eventually('the holder knows', () => !lock.isHeld(), { everyMs: 1 });
  return performance.now() - grantedAt;
}
