import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { Cluster, Redis } from 'ioredis';
import { RedisFence } from '../../../lib/extras/fencing/redis/redis-fence.js';
import { StaleFencingTokenError } from '../../../lib/lock/errors.js';
import { acceptable, acceptedInDisorder, codeOf, shuffledTokens } from '../../support/fencing/tokens.js';
import { type RedisServer, startRedis } from '../../support/redis/start-redis.js';
import { eventually } from '../../support/process/eventually.js';
import { startProxy } from '../../support/proxy/fault-proxy.js';

const INSTALL_MS = 400_000;
const LARGEST = 2n ** 63n - 1n;
const R = '/locks/orders/42';

describe('RedisFence', () => {
  let server: RedisServer;
  let client: Redis;
  let fence: RedisFence;

  beforeAll(async () => {
    server = await startRedis({ durable: true });
    client = connect();
    fence = new RedisFence({ client });
  }, INSTALL_MS);
  afterAll(async () => {
    client?.disconnect();
    await server?.stop();
  }, 30_000);
  beforeEach(() => client.flushall());

  function connect(port = server.port): Redis {
    const made = new Redis({ port, host: '127.0.0.1', retryStrategy: () => 20 });
    made.on('error', () => undefined);
    return made;
  }

  async function text(resource = R): Promise<string | undefined> {
    return (await fence.read(resource))?.value.toString();
  }

  it('accepts the same token again and a higher one, refuses a lower one and says what the highest is', async () => {
    await fence.write(R, 'one', 5n);
    await fence.write(R, 'two', '5');
    await fence.claim(R, 7n);
    const refused = await fence.write(R, 'stale', 6n).catch((error: unknown) => error);
    expect(refused).toBeInstanceOf(StaleFencingTokenError);
    expect(String(refused)).toContain('has seen the fencing token 7, so 6 comes too late');
    expect(await fence.read(R)).toEqual({ value: Buffer.from('two'), fencingToken: 7n });
    expect(await codeOf(fence.remove(R, 6n))).toBe('STALE_FENCING_TOKEN');
    expect(await codeOf(fence.update(R, 6n, () => 'stale'))).toBe('STALE_FENCING_TOKEN');
    expect(await text()).toBe('two');
  });

  it('is exact up to 2^63 - 1, where the numbers of Lua are not', async () => {
    await fence.claim(R, 2n ** 53n + 1n);
    expect(await codeOf(fence.claim(R, 2n ** 53n))).toBe('STALE_FENCING_TOKEN');
    await fence.claim(R, 2n ** 53n + 2n);
    expect(await codeOf(fence.claim(R, 9n))).toBe('STALE_FENCING_TOKEN');
    await fence.write(R, 'x', LARGEST);
    expect(await codeOf(fence.claim(R, LARGEST - 1n))).toBe('STALE_FENCING_TOKEN');
    expect((await fence.read(R))?.fencingToken).toBe(LARGEST);
  });

  it('never lets the mark go down, in whatever order 1 000 tokens come', async () => {
    const { accepted, refusals } = await acceptedInDisorder(1_000, (token) => fence.claim(R, token));
    expect(accepted).toEqual(acceptable(shuffledTokens(1_000)));
    expect([...refusals]).toEqual(['STALE_FENCING_TOKEN']);
  });

  it('from two connections at once: the highest stands', async () => {
    const other = connect();
    const fences = [fence, new RedisFence({ client: other })];
    const tokens = shuffledTokens(400, 7);
    const codes = await Promise.all(
      tokens.map((token, index) => codeOf(fences[index % 2]!.write(R, String(token), token))),
    );
    other.disconnect();
    expect(new Set(codes)).toEqual(new Set(['accepted', 'STALE_FENCING_TOKEN']));
    expect(await fence.read(R)).toEqual({ value: Buffer.from('400'), fencingToken: 400n });
  });

  it('keeps bytes as they are, and parts of larger buffers', async () => {
    const bytes = Buffer.from(Array.from({ length: 256 }, (_, index) => index));
    await fence.write(R, bytes, 5n);
    expect((await fence.read(R))?.value).toEqual(bytes);
    await fence.write(R, new Uint8Array(bytes.buffer, bytes.byteOffset + 10, 3), 5n);
    expect((await fence.read(R))?.value).toEqual(Buffer.from([10, 11, 12]));
    await fence.write(R, '', 5n);
    expect((await fence.read(R))?.value).toEqual(Buffer.alloc(0));
  });

  it('keeps the mark when the value is removed, so that a stale writer cannot bring it back', async () => {
    await fence.write(R, 'x', 5n);
    await fence.remove(R, 6n);
    expect(await fence.read(R)).toBeUndefined();
    expect(await codeOf(fence.write(R, 'stale', 5n))).toBe('STALE_FENCING_TOKEN');
    await fence.write(R, 'again', 6n);
    expect(await text()).toBe('again');
  });

  it('reads never raise the mark, and make no key', async () => {
    expect(await fence.read(R)).toBeUndefined();
    expect(await client.keys('*')).toEqual([]);
    await fence.write(R, 'x', 5n);
    await fence.read(R);
    await fence.write(R, 'y', 5n);
  });

  it('does not take resource, value or token for a script', async () => {
    const evil = `"]] redis.call('FLUSHALL') --`;
    await fence.write(evil, evil, 5n);
    expect(await text(evil)).toBe(evil);
    expect(await codeOf(fence.write(R, 'x', '05'))).toBe('INVALID_FENCING_TOKEN');
    expect(await codeOf(fence.write(R, 'x', `1'`))).toBe('INVALID_FENCING_TOKEN');
  });

  it('goes on when Redis has forgotten the scripts', async () => {
    await fence.write(R, 'x', 5n);
    await client.script('FLUSH');
    await Promise.all([fence.claim(R, 6n), fence.read(R), fence.write(R, 'y', 6n)]);
    expect(await text()).toBe('y');
    expect(await codeOf(fence.claim(R, 5n))).toBe('STALE_FENCING_TOKEN');
  });

  it('tells other errors of Redis as they are', async () => {
    await client.set(fence.keyOf(R), 'no hash');
    await expect(fence.claim(R, 5n)).rejects.toThrow('WRONGTYPE');
  });

  it('keeps a resource in one key, in a cluster too, in the slot of keys with the same braces', async () => {
    const node = await startRedis({ cluster: true });
    const direct = connect(node.port);
    const cluster = new Cluster([{ host: '127.0.0.1', port: node.port }], { scaleReads: 'slave' });
    try {
      await direct.cluster('ADDSLOTSRANGE', 0, 16_383);
      const isUp = async (): Promise<boolean> => String(await direct.cluster('INFO')).includes('cluster_state:ok');
      await eventually('the cluster is up', isUp);
      const fenced = new RedisFence({ client: cluster });
      await fenced.update(R, 5n, () => 'x');
      expect(await codeOf(fenced.write(R, 'stale', 4n))).toBe('STALE_FENCING_TOKEN');
      expect(await direct.keys('*')).toEqual([`fencing:{${R}}`]);
      const slots = [fenced.keyOf(R), `lines:{${R}}`, R].map((key) => direct.cluster('KEYSLOT', key));
      expect(new Set(await Promise.all(slots)).size).toBe(1);
    } finally {
      cluster.disconnect();
      direct.disconnect();
      await node.stop();
    }
  });

  describe('update', () => {
    const add = (entry: string) => (current: Buffer | undefined) => `${current?.toString() ?? ''}${entry}`;

    it('makes a new value of the old one, and loses none when one holder does many at once', async () => {
      await Promise.all(Array.from({ length: 20 }, () => fence.update(R, 5n, add('x'))));
      expect(await text()).toBe('x'.repeat(20));
    });

    it('claims before it reads: an older holder cannot write in between', async () => {
      await fence.write(R, 'a', 5n);
      let older: unknown;
      await fence.update(R, 6n, async (current) => {
        older = await codeOf(fence.write(R, 'stale', 5n));
        return add('b')(current);
      });
      expect(older).toBe('STALE_FENCING_TOKEN');
      expect(await text()).toBe('ab');
    });

    it('is refused when a newer holder comes in between, and writes nothing when the change fails', async () => {
      const overtaken = fence.update(R, 5n, async () => {
        await fence.write(R, 'newer', 6n);
        return 'stale';
      });
      expect(await codeOf(overtaken)).toBe('STALE_FENCING_TOKEN');
      const mine = new Error('mine');
      await expect(fence.update(R, 6n, () => Promise.reject(mine))).rejects.toBe(mine);
      expect(await text()).toBe('newer');
    });

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
        await eventually('the write is done', async () => (await text()) === 'xy');
        await proxy.pass();
        await updating;
        expect(await text()).toBe('xy');
      } finally {
        cut.disconnect();
        await proxy.stop();
      }
    });
  });

  describe('a change that the client sends again, as its answer was lost', () => {
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

    it.each(changes)('%s: a newer holder has read it, so it is not refused as stale', async (_, change, changed) => {
      let seen: string | undefined;
      const fenced = resending(async () => {
        await fence.claim(R, 6n);
        seen = await text();
      });
      await change(fenced);
      expect(seen).toBe(changed);
      expect(await text()).toBe(changed);
      expect(await codeOf(change(fence))).toBe('STALE_FENCING_TOKEN');
    });

    it.each(changes)('%s: does not undo what the same holder wrote in between', async (_, change) => {
      const fenced = resending(async () => {
        for (let times = 0; times < 30; times += 1) await fence.write(R, String(times), 5n);
        await fence.update(R, 5n, plusOne);
      });
      await change(fenced);
      expect(await text()).toBe('30');
    });

    it('behind more writes than are remembered: an update says that it cannot know, and is not done twice', async () => {
      const fenced = resending(async () => {
        for (let times = 0; times < 32; times += 1) await fence.update(R, 5n, plusOne);
      });
      const refused = await fenced.update(R, 5n, plusOne).catch((error: unknown) => error);
      expect(refused).toMatchObject({ code: 'LOCK_UNAVAILABLE' });
      expect(String(refused)).toContain('it is not known whether it was carried out');
      expect(await text()).toBe('33');
    });

    it('a refusal leaves open what cannot be known, and only that', async () => {
      await fence.claim(R, 6n);
      const inDoubt = 'Nothing was written, unless the answer to a first try was lost and 32 others have written since';
      for (const [, change] of changes.slice(0, 2)) await expect(change(fence)).rejects.toThrow(inDoubt);
      await expect(fence.claim(R, 5n)).rejects.toThrow('Nothing was written. Take');
    });

    it('keeps no more than it needs', async () => {
      for (let times = 0; times < 100; times += 1) await fence.write(R, 'x', 5n);
      expect(await client.hstrlen(fence.keyOf(R), 'revisions')).toBe(32 * 17);
    });

    it('is what ioredis does', async () => {
      const proxy = await startProxy({ target: server.port, raw: true });
      const cut = connect(proxy.port);
      try {
        const fenced = new RedisFence({ client: cut });
        await fenced.claim(R, 5n);
        proxy.swallow('toClient');
        const writing = fenced.write(R, 'one', 5n);
        await eventually('the write is done', async () => (await text()) === 'one');
        await fence.claim(R, 6n);
        await proxy.pass();
        await writing;
      } finally {
        cut.disconnect();
        await proxy.stop();
      }
    });
  });

  describe('durability', () => {
    it('is checked: a Redis that may forget is told from one that may not', async () => {
      await fence.checkDurability();
      await client.config('SET', 'appendfsync', 'everysec');
      await client.config('SET', 'maxmemory-policy', 'allkeys-lru');
      await client.config('SET', 'no-appendfsync-on-rewrite', 'yes');
      await expect(fence.checkDurability()).rejects.toThrow(
        'Set appendfsync always (it is everysec), no-appendfsync-on-rewrite no (it is yes), ' +
          'maxmemory-policy noeviction (it is allkeys-lru)',
      );
      await client.config('SET', 'appendfsync', 'always');
      await client.config('SET', 'no-appendfsync-on-rewrite', 'no');
      await client.config('SET', 'maxmemory-policy', 'noeviction');
    });

    it('with appendonly and appendfsync always the mark outlives a kill', async () => {
      await fence.write(R, 'x', 5n);
      await server.kill();
      await server.start();
      expect(await fence.read(R)).toEqual({ value: Buffer.from('x'), fencingToken: 5n });
      expect(await codeOf(fence.claim(R, 4n))).toBe('STALE_FENCING_TOKEN');
    });
  });
});
