import { describe, expect, it } from '@jest/globals';
import type { RedisClient } from '../../../../lib/fencing/redis/redis-client.js';
import { RedisFence } from '../../../../lib/fencing/redis/redis-fence.js';
import { telling } from '../../../support/telling.js';

/** Answers each command with what comes next, and keeps what it was asked. */
function clientOf(...answers: unknown[]): RedisClient & { readonly asked: unknown[][] } {
  const asked: unknown[][] = [];
  return {
    asked,
    callBuffer: async (command, parameters) => {
      asked.push([command, ...parameters]);
      const answer = answers.shift();
      if (answer instanceof Error) throw answer;
      return answer;
    },
  };
}

const done = [Buffer.from('done')];

describe('RedisFence', () => {
  it('sends tokens as text of one length, and the name of the script only', async () => {
    const client = clientOf(done);
    await new RedisFence({ client, prefix: 'app:' }).claim('/a', 42n);
    const [command, sha1, ...rest] = client.asked[0] ?? [];
    expect([command, ...rest]).toEqual(['evalsha', '1', 'app:{/a}', '0000000000000000042']);
    expect(sha1).toMatch(/^[0-9a-f]{40}$/);
  });

  it('sends the script where Redis does not know it, and no other error is taken for that', async () => {
    const client = clientOf(new Error('NOSCRIPT No matching script'), done, new Error('LOADING'));
    const fence = new RedisFence({ client });
    await fence.claim('/a', 1n);
    expect(client.asked.map(([command]) => command)).toEqual(['evalsha', 'eval']);
    await expect(fence.claim('/a', 1n)).rejects.toThrow('LOADING');
  });

  describe('in its look at the durability', () => {
    const settings = [
      ['appendonly', 'yes'],
      ['appendfsync', 'always'],
      ['no-appendfsync-on-rewrite', 'no'],
      ['maxmemory-policy', 'noeviction'],
    ].map((pair) => pair.map((text) => Buffer.from(text)) as [Buffer, Buffer]);
    const active = {
      aof_enabled: '1',
      aof_rewrite_in_progress: '0',
      aof_rewrite_scheduled: '0',
      aof_last_write_status: 'ok',
      aof_base_size: '88',
    };
    const info = (facts: object): Buffer => {
      const lines = Object.entries({ ...active, ...facts }).map(([name, value]) => `${name}:${String(value)}`);
      return Buffer.from(['# Persistence', 'loading:0', ...lines, ''].join('\r\n'));
    };
    const look = (facts: object): Promise<void> =>
      new RedisFence({ client: clientOf(...settings, info(facts)) }).checkDurability();

    it('reads the settings from a list and from a map', async () => {
      await look({});
      const maps = settings.map((pair) => new Map([pair]));
      await new RedisFence({ client: clientOf(...maps, info({})) }).checkDurability();
    });

    it.each([
      [{ aof_enabled: '0' }, 'is told to keep an append-only file and keeps none (aof_enabled:0)'],
      [{ aof_rewrite_in_progress: '1', aof_base_size: '0' }, 'is still being made'],
      [{ aof_rewrite_scheduled: '1', aof_base_size: '0' }, 'is still being made'],
      [{ aof_last_write_status: 'err' }, 'failed (err): is its disk full?'],
    ])('does not take the settings for what the server does: %j', async (facts, reason) => {
      await expect(look(facts)).rejects.toThrow(reason);
      await expect(look(facts)).rejects.toMatchObject({ code: 'LOCK_CONFIGURATION' });
    });

    it.each([{ aof_rewrite_in_progress: '1' }, { aof_rewrite_scheduled: '1' }, { aof_base_size: '0' }])(
      'leaves a server alone that writes its log anew, or has an empty one: %j',
      (facts) => look(facts),
    );
  });

  it('says so when Redis does not tell its settings', async () => {
    const client = clientOf(new Error('ERR unknown command CONFIG'));
    await expect(new RedisFence({ client }).checkDurability()).rejects.toThrow('Redis does not tell its appendonly');
  });

  it('refuses what names no resource, before any input or output', async () => {
    const client = clientOf();
    await expect(new RedisFence({ client }).claim('', 1n)).rejects.toThrow(telling('Not the name of a resource'));
    expect(client.asked).toEqual([]);
  });

  it.each([undefined, null, 7, {}])('refuses the value %p and names the resource', async (wrong) => {
    const client = clientOf(done, [null, null, null]);
    const fence = new RedisFence({ client });
    const value = wrong as string;
    const refusal = { code: 'LOCK_CONFIGURATION', key: '/a', details: expect.stringContaining('/a') };
    await expect(fence.write('/a', value, 1n)).rejects.toMatchObject(refusal);
    expect(client.asked).toEqual([]);
    await expect(fence.update('/a', 1n, () => value)).rejects.toMatchObject(refusal);
    expect(client.asked).toHaveLength(2);
  });

  it('gives an update up whose change writes the same resource each time, instead of going on for ever', async () => {
    let rounds = 0;
    // A claim is done; each read finds something, and each write that somebody has written since.
    const client: RedisClient = {
      callBuffer: async (_, parameters) => {
        if (parameters.length === 3) return [null, Buffer.from('1'), Buffer.from('revision')];
        return parameters.length === 4 ? done : [Buffer.from('changed')];
      },
    };
    const change = (): string => {
      rounds += 1;
      return 'x';
    };
    await expect(new RedisFence({ client }).update('/a', 1n, change)).rejects.toMatchObject({
      code: 'LOCK_CONFIGURATION',
      details: expect.stringContaining('/a was changed under the same token during each of 1000 attempts'),
    });
    expect(rounds).toBe(1_000);
  });
});
