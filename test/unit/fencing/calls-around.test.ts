import { describe, expect, it } from '@jest/globals';
import { CallsAround } from '../../../lib/fencing/calls-around.js';

describe('the calls around some code', () => {
  it('are those that it was called by, the outermost first', async () => {
    const around = new CallsAround();
    const seen = await around.run('outer', () => around.run('inner', async () => around.resources));
    expect(seen).toEqual(['outer', 'inner']);
    expect(around.resources).toEqual([]);
  });

  it('are not those that run beside it', async () => {
    const around = new CallsAround();
    const [one, other] = await Promise.all([
      around.run('one', async () => around.resources),
      around.run('other', async () => around.resources),
    ]);
    expect([one, other]).toEqual([['one'], ['other']]);
  });

  it('are none any more for work that outlives them', async () => {
    const around = new CallsAround();
    let whenOver!: () => void;
    const over = new Promise<void>((resolve) => (whenOver = resolve));
    let leftRunning: Promise<string[]> | undefined;
    const failed = around.run('outer', () =>
      around.run('inner', () => {
        leftRunning = over.then(() => around.resources);
        throw new Error('the work failed');
      }),
    );
    await expect(failed).rejects.toThrow('the work failed');
    whenOver();
    expect(await leftRunning).toEqual([]);
  });
});
