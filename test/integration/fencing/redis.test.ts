import { beforeAll, describe, expect, it } from '@jest/globals';
import { Cluster, type Redis } from 'ioredis';
import { RedisFence } from '../../../lib/fencing/redis/redis-fence.js';
import { StaleFencingTokenError } from '../../../lib/lock/errors.js';
import { add, connect, useRedis, textOf } from '../../support/fencing/redis-scene.js';
import { acceptable, acceptedInDisorder, codeOf, shuffledTokens } from '../../support/fencing/tokens.js';
import { eventually } from '../../support/process/eventually.js';
import { type RedisServer, startRedis } from '../../support/redis/start-redis.js';
import { telling } from '../../support/telling.js';

const LARGEST = 2n ** 63n - 1n;
const R = '/locks/orders/42';

describe('RedisFence', () => {
  const scene = useRedis();
  let server: RedisServer;
  let client: Redis;
  let fence: RedisFence;

  beforeAll(() => {
    ({ server, client, fence } = scene());
  });

  it('accepts the same token again and a higher one, refuses a lower one and says what the highest is', async () => {
    await fence.write(R, 'one', 5n);
    await fence.write(R, 'two', '5');
    await fence.claim(R, 7n);
    const refused = await fence.write(R, 'stale', 6n).catch((error: unknown) => error);
    expect(refused).toBeInstanceOf(StaleFencingTokenError);
    expect(refused).toEqual(telling('has seen the fencing token 7, so 6 comes too late'));
    expect(await fence.read(R)).toEqual({ value: Buffer.from('two'), fencingToken: 7n });
    expect(await codeOf(fence.remove(R, 6n))).toBe('STALE_FENCING_TOKEN');
    expect(await codeOf(fence.update(R, 6n, () => 'stale'))).toBe('STALE_FENCING_TOKEN');
    expect(await textOf(fence, R)).toBe('two');
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

  it('lets the highest stand of what comes from two connections at once', async () => {
    const other = connect(server.port);
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
    expect(await textOf(fence, R)).toBe('again');
  });

  it('never raises the mark by a read, nor makes a key', async () => {
    expect(await fence.read(R)).toBeUndefined();
    expect(await client.keys('*')).toEqual([]);
    await fence.write(R, 'x', 5n);
    await fence.read(R);
    await fence.write(R, 'y', 5n);
  });

  it('does not take resource, value or token for a script', async () => {
    const evil = `"]] redis.call('FLUSHALL') --`;
    await fence.write(evil, evil, 5n);
    expect(await textOf(fence, evil)).toBe(evil);
    expect(await codeOf(fence.write(R, 'x', '05'))).toBe('INVALID_FENCING_TOKEN');
    expect(await codeOf(fence.write(R, 'x', `1'`))).toBe('INVALID_FENCING_TOKEN');
  });

  it('works over a connection that puts commands together by itself, bytes and settings included', async () => {
    const pipelining = connect(server.port, { enableAutoPipelining: true });
    try {
      const fenced = new RedisFence({ client: pipelining });
      await fenced.checkDurability();
      await client.script('FLUSH');
      const bytes = Buffer.from([0, 10, 255]);
      await fenced.write(R, bytes, 5n);
      expect(await fenced.read(R)).toEqual({ value: bytes, fencingToken: 5n });
      expect(await codeOf(fenced.claim(R, 4n))).toBe('STALE_FENCING_TOKEN');
      await Promise.all(Array.from({ length: 20 }, () => fenced.update('count', 5n, add('x'))));
      expect(await textOf(fenced, 'count')).toBe('x'.repeat(20));
    } finally {
      pipelining.disconnect();
    }
  });

  it('goes on when Redis has forgotten the scripts', async () => {
    await fence.write(R, 'x', 5n);
    await client.script('FLUSH');
    await Promise.all([fence.claim(R, 6n), fence.read(R), fence.write(R, 'y', 6n)]);
    expect(await textOf(fence, R)).toBe('y');
    expect(await codeOf(fence.claim(R, 5n))).toBe('STALE_FENCING_TOKEN');
  });

  it('tells other errors of Redis as they are', async () => {
    await client.set(fence.keyOf(R), 'no hash');
    await expect(fence.claim(R, 5n)).rejects.toThrow('WRONGTYPE');
  });

  it('keeps a resource in one key, in a cluster too, in the slot of keys with the same braces', async () => {
    const node = await startRedis({ cluster: true });
    const direct = connect(node.port);
    const nodes = [{ host: '127.0.0.1', port: node.port }];
    const cluster = new Cluster(nodes, { scaleReads: 'slave' });
    const pipelining = new Cluster(nodes, { enableAutoPipelining: true });
    try {
      await direct.cluster('ADDSLOTSRANGE', 0, 16_383);
      const isUp = async (): Promise<boolean> => String(await direct.cluster('INFO')).includes('cluster_state:ok');
      await eventually('the cluster is up', isUp);
      const fenced = new RedisFence({ client: cluster });
      await fenced.update(R, 5n, () => 'x');
      expect(await codeOf(fenced.write(R, 'stale', 4n))).toBe('STALE_FENCING_TOKEN');
      expect(await codeOf(new RedisFence({ client: pipelining }).write(R, 'stale', 4n))).toBe('STALE_FENCING_TOKEN');
      expect(await direct.keys('*')).toEqual([`fencing:{${R}}`]);
      const slots = [fenced.keyOf(R), `lines:{${R}}`, R].map((key) => direct.cluster('KEYSLOT', key));
      expect(new Set(await Promise.all(slots)).size).toBe(1);
    } finally {
      cluster.disconnect();
      pipelining.disconnect();
      direct.disconnect();
      await node.stop();
    }
  });

  describe('update()', () => {
    it('makes a new value of the old one, and loses none when one holder does many at once', async () => {
      await Promise.all(Array.from({ length: 20 }, () => fence.update(R, 5n, add('x'))));
      expect(await textOf(fence, R)).toBe('x'.repeat(20));
    });

    it('claims before it reads: an older holder cannot write in between', async () => {
      await fence.write(R, 'a', 5n);
      let older: unknown;
      await fence.update(R, 6n, async (current) => {
        older = await codeOf(fence.write(R, 'stale', 5n));
        return add('b')(current);
      });
      expect(older).toBe('STALE_FENCING_TOKEN');
      expect(await textOf(fence, R)).toBe('ab');
    });

    it('is refused when a newer holder comes in between, and writes nothing when the change fails', async () => {
      const overtaken = fence.update(R, 5n, async () => {
        await fence.write(R, 'newer', 6n);
        return 'stale';
      });
      expect(await codeOf(overtaken)).toBe('STALE_FENCING_TOKEN');
      const mine = new Error('mine');
      await expect(fence.update(R, 6n, () => Promise.reject(mine))).rejects.toBe(mine);
      expect(await textOf(fence, R)).toBe('newer');
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

    it('is not believed of the settings: a log that was turned on and is not written yet keeps nothing', async () => {
      const other = await startRedis();
      const direct = connect(other.port);
      try {
        const fenced = new RedisFence({ client: direct });
        await expect(fenced.checkDurability()).rejects.toThrow('Set appendonly yes (it is no)');
        await direct.config('SET', 'appendfsync', 'always');
        // A snapshot that takes 20 s, for the end of which the log waits: no longer, as it outlives its server.
        await direct.config('SET', 'rdb-key-save-delay', '20000');
        await direct.mset(Object.fromEntries(Array.from({ length: 1_000 }, (_, index) => [`key ${index}`, 'x'])));
        await direct.bgsave();
        await direct.config('SET', 'appendonly', 'yes');
        await expect(fenced.checkDurability()).rejects.toThrow('was just turned on and is still being made');
        await fenced.claim(R, 7n);
        await other.kill();
        await other.start();
        expect(await codeOf(fenced.claim(R, 6n))).toBe('accepted');
      } finally {
        direct.disconnect();
        await other.stop();
      }
    });

    it('is there with appendonly and appendfsync always: the mark outlives a kill', async () => {
      await fence.write(R, 'x', 5n);
      await server.kill();
      await server.start();
      expect(await fence.read(R)).toEqual({ value: Buffer.from('x'), fencingToken: 5n });
      expect(await codeOf(fence.claim(R, 4n))).toBe('STALE_FENCING_TOKEN');
    });
  });
});
