import { describe, expect, it } from '@jest/globals';
import { LockError, LockTimeoutError, LockUnavailableError } from '../../../lib/lock/errors.js';
import { LockHandle } from '../../../lib/lock/handle.js';
import { type Life, LIVES, type Scene } from '../../support/locks/lives.js';
import { LockStage } from '../../support/locks/lock-stage.js';
import { outcomeOf } from '../../support/locks/witness.js';
import { eventually, within } from '../../support/process/eventually.js';

/** More requests than any life has. */
const MAX_REQUESTS = 40;
const SETTLES_MS = 15_000;
const LIFE_MS = 60_000;

const LOSSES = [
  { what: 'the reply to each request', action: 'loseReply' },
  { what: 'each request', action: 'dropRequest' },
] as const;

/** Which request the trouble happens to: the first, the second, ... until a life goes by without it. */
type Trouble = (nth: number) => Promise<boolean>;

/** Busy, where the answers that came had told of others; else ZooKeeper was not to be had. */
const TIME_IS_UP = expect.stringMatching(/^LOCK_(TIMEOUT|UNAVAILABLE)$/);

describe('No litter', () => {
  const stage = new LockStage();

  async function scene(overrides: Partial<Scene> = {}): Promise<Scene> {
    return { stage, key: stage.freshKey(), client: await stage.open(), other: await stage.open(), ...overrides };
  }

  it.each(LIVES.flatMap((life) => LOSSES.map((loss) => ({ ...loss, life, name: life.name }))))(
    'nothing is left after the loss of $what of $name',
    async ({ life, action }) => {
      const { client, other } = await scene();
      await forEachRequest(async (nth) => {
        const key = stage.freshKey();
        await client.untilUp();
        const before = await life.prepare?.({ stage, key, client, other });
        client.resetCounts();
        const rule = client.onRequest({ path: under(key), nth, action });
        const got = outcomeOf(life.get({ stage, key, client, other }));
        if (before !== undefined) await letGo(stage, key, life, before, got);
        const lock = await within(SETTLES_MS, `${life.name} settles`, got);
        if (lock instanceof Error) {
          // A single attempt does not wait for the link to come back.
          expect(life.name).toContain('tryAcquire');
          expect(lock).toMatchObject({ code: 'LOCK_UNAVAILABLE' });
        } else if (lock !== undefined) {
          expect(lock.isHeld()).toBe(true);
          await onlyHolder(stage, key, lock);
          await within(SETTLES_MS, 'the release', lock.release());
        }
        await stage.untilQueueHas(key, 0);
        if (action === 'loseReply')
          expect(
            doubles(client.requests({ opcode: ['create', 'create2'], path: under(key) }).map(({ path }) => path)),
          ).toEqual([]);
        await client.untilUp();
        const wasReached = rule.matches >= nth;
        rule.release();
        return wasReached;
      });
      await stage.untilNothingIsLeft();
    },
    LIFE_MS,
  );

  it.each(LIVES)(
    'nothing is left after an abort at each reply of $name',
    async (life) => {
      const { client, other } = await scene();
      await forEachRequest(async (nth) => {
        const abort = new AbortController();
        const played: Scene = { stage, key: stage.freshKey(), client, other, signal: abort.signal };
        return (await interrupted(life, played, nth, () => abort.abort(), 'LOCK_ABORTED')) === true;
      });
      await stage.untilNothingIsLeft();
    },
    LIFE_MS,
  );

  it.each(LIVES)(
    'nothing is left after a time-out at each reply of $name',
    async (life) => {
      const { client, other } = await scene();
      await forEachRequest(async (nth) => {
        // A busy machine may not get to the request within the time: then it is given more.
        for (let waitMs = 300; ; waitMs *= 2) {
          const played: Scene = { stage, key: stage.freshKey(), client, other, waitMs };
          const ended = await interrupted(life, played, nth, () => undefined, TIME_IS_UP);
          if (ended !== 'too slow') return ended;
          expect(waitMs).toBeLessThan(SETTLES_MS);
        }
      });
      await stage.untilNothingIsLeft();
    },
    LIFE_MS,
  );

  it('nothing is left after an abort or a time-out while the notification of a hand-over is on its way', async () => {
    const { client, other } = await scene();
    for (const ending of ['abort', 'time-out'] as const) {
      const key = stage.freshKey();
      const lock = await other.service.acquire(key);
      const rule = client.proxy.onNotification({ path: lock.nodePath, action: 'hold' });
      client.resetCounts();
      const abort = new AbortController();
      const waiting = client.service.acquire(key, {
        signal: abort.signal,
        waitMs: ending === 'abort' ? 10_000 : 2_000,
      });
      await stage.untilQueueHas(key, 2);
      // Its own node and the one ahead; before that there is nothing to be told.
      await client.untilWatching(2);
      await lock.release();
      await within(SETTLES_MS, 'the notification is held', rule.seen);
      if (ending === 'abort') abort.abort();
      await expect(waiting).rejects.toMatchObject({ code: ending === 'abort' ? 'LOCK_ABORTED' : 'LOCK_TIMEOUT' });
      rule.release();
      await stage.untilQueueHas(key, 0);
    }
    await stage.untilNothingIsLeft();
  });

  /** A life with the reply to its n-th request held back; it is interrupted there, while it can neither go on nor ask. */
  async function interrupted(
    life: Life,
    played: Scene,
    nth: number,
    interrupt: () => void,
    code: unknown,
  ): Promise<boolean | 'too slow'> {
    const { client, key } = played;
    const before = await life.prepare?.(played);
    const rule = client.onRequest({ path: under(key), nth, action: 'holdReply' });
    const got = outcomeOf(life.get(played));
    const end = Promise.race([rule.seen.then(() => 'held back' as const), got]);
    if (before !== undefined) await letGo(stage, key, life, before, end);
    const wasHeldBack = (await within(SETTLES_MS, `${life.name} gets there`, end)) === 'held back';
    if (wasHeldBack) interrupt();
    const outcome = await within(SETTLES_MS, `${life.name} is interrupted`, got);
    if (wasHeldBack) {
      expect(outcome).toBeInstanceOf(LockError);
      expect(outcome).toMatchObject({ code });
    }
    rule.release();
    const isTooSlow = !wasHeldBack && (outcome instanceof LockTimeoutError || outcome instanceof LockUnavailableError);
    if (!wasHeldBack && !isTooSlow) {
      expect(outcome).toBeInstanceOf(LockHandle);
      await (outcome as LockHandle).release();
    }
    await before?.release();
    await stage.untilQueueHas(key, 0);
    return isTooSlow ? 'too slow' : wasHeldBack;
  }
});

async function forEachRequest(trouble: Trouble): Promise<void> {
  let nth = 1;
  while (await trouble(nth)) {
    nth += 1;
    expect(nth).toBeLessThan(MAX_REQUESTS);
  }
  // It did happen, several times.
  expect(nth).toBeGreaterThan(2);
}

/** Releases what is in the way once the contender stands behind it, or once that has come to an end. */
async function letGo(
  stage: LockStage,
  key: string,
  life: Life,
  before: LockHandle,
  end: Promise<unknown>,
): Promise<void> {
  let hasEnded = false;
  void end.then(() => (hasEnded = true));
  const isThere = async (): Promise<boolean> => hasEnded || (await stage.queue(key)).length === life.letGoAt;
  await eventually(`${life.name} stands in the queue`, isThere, { everyMs: 5 });
  if (!hasEnded) await before.release();
}

/** Of an upgraded lock the intent too. Whatever a lost reply left of earlier attempts goes by itself. */
async function onlyHolder(stage: LockStage, key: string, lock: LockHandle): Promise<void> {
  const names = await stage.untilQueueHas(key, lock.mode === 'write' ? 2 : 1);
  expect(names[0]).toBe(lock.nodePath.slice(key.length + 1));
}

function under(key: string): RegExp {
  return new RegExp(`^${key}(/|$)`);
}

function doubles(paths: readonly (string | undefined)[]): (string | undefined)[] {
  return paths.filter((path, index) => path !== '' && paths.indexOf(path) !== index);
}
