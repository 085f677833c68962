import { describe, expect, it } from '@jest/globals';
import { existsSync } from 'node:fs';
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { setTimeout as pause } from 'node:timers/promises';
import { eventually, within } from '../../support/process/eventually.js';
import { fourLetterWord } from '../../support/zookeeper/four-letter.js';
import { ofType, startNodeChild } from '../../support/process/node-child.js';
import { Stalls } from '../../support/process/stalls.js';

const SCRIPT = new URL('./child-script.ts', import.meta.url);

describe('a Node child', () => {
  it('runs a TypeScript file with arguments and environment, and exchanges messages', async () => {
    await using child = await startNodeChild(SCRIPT, { args: ['one'], env: { FROM_TEST: 'two' } });
    expect(await child.next('ready', ofType('ready'))).toMatchObject({ argument: 'one', variable: 'two' });
    child.send('double');
    expect(await child.next('doubled', ofType('doubled'))).toMatchObject({ value: 2n ** 62n });
    child.send('finish');
    expect(await child.ended).toEqual({ code: 0, signal: null });
  });

  it('stands still while paused and goes on when resumed', async () => {
    await using child = await startNodeChild(SCRIPT);
    await child.next('count', ofType('count'));
    await child.pause();
    // What it had said before arrives; then nothing does.
    let before = -1;
    await eventually(
      'silence',
      () => {
        const isSilent = child.messages.length === before;
        before = child.messages.length;
        return isSilent;
      },
      { everyMs: 50 },
    );
    await child.resume();
    await eventually('it counts again', () => child.messages.length > before);
  });

  it('is killed while paused, and says how it ended', async () => {
    const child = await startNodeChild(SCRIPT);
    await child.next('ready', ofType('ready'));
    await child.pause();
    await child.kill();
    expect(await child.ended).toEqual({ code: null, signal: 'SIGKILL' });
    expect(child.isRunning).toBe(false);
  });

  it('reports its last words when it ends instead of answering', async () => {
    const child = await startNodeChild(SCRIPT);
    await child.next('ready', ofType('ready'));
    child.send('dance');
    await expect(child.next('danced', ofType('danced'))).rejects.toThrow(/has ended[^]*Cannot do 'dance'/);
    await expect(child.next('danced', ofType('danced'))).rejects.toThrow('has ended');
  });
});

describe('whatever a test process started', () => {
  it('is killed, and its folders are removed, even when that process is killed itself', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'left-behind-'));
    await using parent = await startNodeChild(new URL('./reckless-script.ts', import.meta.url), { args: [folder] });
    const { pid } = await parent.next('started', ofType('started'));
    expect(existsSync(`/proc/${String(pid)}`)).toBe(true);
    await parent.kill();
    await eventually('its child is gone', () => !existsSync(`/proc/${String(pid)}`));
    await eventually('its folder is gone', () => !existsSync(folder));
  });
});

describe('a process that forgets to stop what it started', () => {
  it('ends all the same, and so does what it started', async () => {
    await using careless = await startNodeChild(new URL('./careless-script.ts', import.meta.url));
    const { ports } = await careless.next('started', ofType('started'));
    expect(await within(5_000, 'it ends by itself', careless.ended)).toEqual({ code: 0, signal: null });
    const [serverPort] = ports as number[];
    const answers = (): Promise<boolean> => fourLetterWord(serverPort ?? 0, 'ruok').then(Boolean, () => false);
    await eventually('its server is gone', async () => !(await answers()));
  });
});

/** To the code of this process it is as if the machine had stood still. */
function standStill(durationMs: number): void {
  const from = performance.now();
  while (performance.now() - from < durationMs);
}

describe('stalls', () => {
  it('are counted at once, by each who watches from when it began, and not for longer than they were', async () => {
    using stalls = Stalls.watch();
    const startedAt = performance.now();
    standStill(200);
    expect(stalls.totalMs).toBeGreaterThan(180);
    using later = Stalls.watch();
    expect(later.totalMs).toBe(0);
    await pause(30);
    standStill(100);
    await pause(30);
    expect(later.totalMs).toBeGreaterThan(80);
    expect(stalls.totalMs).toBeGreaterThan(260);
    expect(stalls.totalMs).toBeLessThan(performance.now() - startedAt - 20);
    expect(stalls.latelyMs(100)).toBeLessThan(stalls.totalMs - 150);
    stalls.forget();
    expect(stalls.totalMs).toBe(0);
    expect(later.totalMs).toBeGreaterThan(80);
  });
});

describe('waiting', () => {
  it('does not count how long the machine stood still', async () => {
    const promise = pause(150);
    const byDeadline = within(100, 'the promise', promise);
    let isSo = false;
    void promise.then(() => (isSo = true));
    const byAsking = eventually('it is so', () => isSo, { withinMs: 100 });
    standStill(300);
    await Promise.all([byDeadline, byAsking]);
  });

  it('names what it waited for, with the last failure as its cause', async () => {
    const probe = (): boolean => {
      throw new Error('not yet');
    };
    const waiting = eventually('the moon', probe, { withinMs: 30, everyMs: 5, explain: () => 'It is day.' });
    await expect(waiting).rejects.toThrow('Not within 30 ms: the moon.\nIt is day.');
    await expect(waiting).rejects.toHaveProperty('cause', new Error('not yet'));
    await expect(within(10, 'never', new Promise(() => undefined))).rejects.toThrow('Not within 10 ms: never.');
  });
});
