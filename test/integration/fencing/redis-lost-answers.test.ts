import { beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import type { Redis } from 'ioredis';
import { RedisFence } from '../../../lib/fencing/redis/redis-fence.js';
import { add, connect, useRedis, textOf } from '../../support/fencing/redis-scene.js';
import { codeOf } from '../../support/fencing/tokens.js';
import { eventually } from '../../support/process/eventually.js';
import { startProxy } from '../../support/proxy/fault-proxy.js';
import type { RedisServer } from '../../support/redis/start-redis.js';
import { telling } from '../../support/telling.js';

const R = '/locks/orders/42';

describe('RedisFence', () => {
  const scene = useRedis();
  let server: RedisServer;
  let client: Redis;
  let fence: RedisFence;

  beforeAll(() => {
    ({ server, client, fence } = scene());
  });

  describe('update()', () => {
    it('is done once when its answer was lost and the client sends it again', async () => {
      const proxy = await startProxy({ target: server.port, raw: true });
      const cut = connect(proxy.port);
      const fenceBehind = new RedisFence({ client: cut });
      try {
        await fenceBehind.update(R, 5n, add('x'));
        // From the read on no answer comes: the write is done, and its answer is lost with the connection.
        let isHeld = false;
        const updating = fenceBehind.update(R, 5n, (current) => {
          if (!isHeld) {
            isHeld = true;
            proxy.swallow('toClient');
          }
          return add('y')(current);
        });
        await eventually('the write is done', async () => (await textOf(fence, R)) === 'xy');
        await proxy.pass();
        await updating;
        expect(await textOf(fence, R)).toBe('xy');
      } finally {
        cut.disconnect();
        await proxy.stop();
      }
    });
  });

  describe('where the client sends a change again, as its answer was lost:', () => {
    const plusOne = (current: Buffer | undefined): string => String(Number(current) + 1);
    const changes: [string, (fenced: RedisFence) => Promise<void>, string | undefined][] = [
      ['write', (fenced) => fenced.write(R, '1', 5n), '1'],
      ['remove', (fenced) => fenced.remove(R, 5n), undefined],
      ['update', (fenced) => fenced.update(R, 5n, plusOne), '1'],
    ];

    /** Sends the first change twice; `between` happens before the second time. */
    function resending(between: () => Promise<void>): RedisFence {
      let isSent = false;
      return new RedisFence({
        client: {
          callBuffer: async (command, parameters) => {
            const answer = await client.callBuffer(command, parameters);
            // Claims and reads have no more than script, count of keys, key and token.
            if (isSent || parameters.length <= 4) return answer;
            isSent = true;
            await between();
            return client.callBuffer(command, parameters);
          },
        },
      });
    }

    beforeEach(() => fence.write(R, '0', 5n));

    it.each(changes)('a %s that a newer holder has read is not refused as stale', async (_, change, changed) => {
      let seen: string | undefined;
      const fenced = resending(async () => {
        await fence.claim(R, 6n);
        seen = await textOf(fence, R);
      });
      await change(fenced);
      expect(seen).toBe(changed);
      expect(await textOf(fence, R)).toBe(changed);
      expect(await codeOf(change(fence))).toBe('STALE_FENCING_TOKEN');
    });

    it.each(changes)('a %s does not undo what the same holder wrote in between', async (_, change) => {
      const fenced = resending(async () => {
        for (let times = 0; times < 30; times += 1) await fence.write(R, String(times), 5n);
        await fence.update(R, 5n, plusOne);
      });
      await change(fenced);
      expect(await textOf(fence, R)).toBe('30');
    });

    it('an update behind more writes than are remembered says that it cannot know, and is not done twice', async () => {
      const fenced = resending(async () => {
        for (let times = 0; times < 32; times += 1) await fence.update(R, 5n, plusOne);
      });
      const refused = await fenced.update(R, 5n, plusOne).catch((error: unknown) => error);
      expect(refused).toMatchObject({ code: 'LOCK_UNAVAILABLE' });
      expect(refused).toEqual(telling('it is not known whether it was carried out'));
      expect(await textOf(fence, R)).toBe('33');
    });

    it.each(['write', 'remove', 'update'] as const)(
      'an update of a key that nobody had written, behind more than are remembered (%s), says that it cannot know',
      async (by) => {
        await client.del(fence.keyOf(R));
        const appended = (current: Buffer | undefined): string => `${current?.toString() ?? ''}.`;
        const others = {
          write: () => fence.write(R, 'theirs', 5n),
          remove: () => fence.remove(R, 5n),
          update: () => fence.update(R, 5n, appended),
        };
        const fenced = resending(async () => {
          for (let times = 0; times < 32; times += 1) await others[by]();
        });
        const seen: (string | undefined)[] = [];
        const updating = fenced.update(R, 5n, (current) => {
          seen.push(current?.toString());
          return appended(current);
        });
        await expect(updating).rejects.toMatchObject({ code: 'LOCK_UNAVAILABLE' });
        expect(seen).toEqual([undefined]);
        const left = { write: 'theirs', remove: undefined, update: '.'.repeat(33) };
        expect(await textOf(fence, R)).toBe(left[by]);
      },
    );

    it('a change of a key that nobody had written, behind as many as are remembered with it, is known, and done once', async () => {
      await client.del(fence.keyOf(R));
      const fenced = resending(async () => {
        for (let times = 0; times < 31; times += 1) await fence.update(R, 5n, plusOne);
      });
      await fenced.update(R, 5n, (current) => String(Number(current ?? 0) + 1));
      expect(await textOf(fence, R)).toBe('32');
    });

    it('a change of a key that nobody had written, and that others have written since the look, is made anew from theirs', async () => {
      await client.del(fence.keyOf(R));
      const seen: (string | undefined)[] = [];
      await fence.update(R, 5n, async (current) => {
        seen.push(current?.toString());
        if (seen.length === 1) await fence.write(R, 'theirs', 5n);
        return `${String(current)}, ours`;
      });
      expect(seen).toEqual([undefined, 'theirs']);
      expect(await textOf(fence, R)).toBe('theirs, ours');
    });

    it('a refusal leaves open what cannot be known, and only that', async () => {
      await fence.claim(R, 6n);
      const inDoubt = 'Nothing was written, unless the answer to a first try was lost and 32 others have written since';
      for (const [, change] of changes.slice(0, 2)) await expect(change(fence)).rejects.toThrow(telling(inDoubt));
      await expect(fence.claim(R, 5n)).rejects.toThrow(telling('Nothing was written. Acquire'));
    });

    it('no more is remembered than is needed', async () => {
      for (let times = 0; times < 100; times += 1) await fence.write(R, 'x', 5n);
      expect(await client.hstrlen(fence.keyOf(R), 'revisions')).toBe(32 * 17);
    });

    it('a write that ioredis itself sends again after a cut is not refused for a newer claim', async () => {
      const proxy = await startProxy({ target: server.port, raw: true });
      const cut = connect(proxy.port);
      try {
        const fenced = new RedisFence({ client: cut });
        await fenced.claim(R, 5n);
        proxy.swallow('toClient');
        const writing = fenced.write(R, 'one', 5n);
        await eventually('the write is done', async () => (await textOf(fence, R)) === 'one');
        await fence.claim(R, 6n);
        await proxy.pass();
        await writing;
      } finally {
        cut.disconnect();
        await proxy.stop();
      }
    });
  });
});
