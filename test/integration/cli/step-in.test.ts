import { describe, expect, it } from '@jest/globals';
import { useZkLock } from '../../support/command-line/use-zk-lock.js';
import type { Finished } from '../../support/command-line/zk-lock-process.js';
import { LockStage } from '../../support/locks/lock-stage.js';
import { TICK_MS } from '../../support/locks/times.js';
import { outcomeOf } from '../../support/locks/witness.js';
import { eventually } from '../../support/process/eventually.js';

const WHY = ['--reason', 'stuck since noon'];

describe('zk-lock', () => {
  const stage = new LockStage();
  const { zkLock, environment } = useZkLock(() => stage.connect);
  const call = (...args: string[]): Promise<Finished> => zkLock.call(args, environment());
  const atTerminal = (...args: string[]) => zkLock.startAtTerminal(args, environment());

  describe('break', () => {
    it('takes the lock from the holder, which is told who and why', async () => {
      const client = await stage.open();
      const lock = await client.service.acquire(stage.freshKey());
      lock.signal.addEventListener('abort', () => void lock.release());
      const args = ['break', lock.key, '--token', `${lock.fencingToken}`, ...WHY, '--by', 'ada', '--yes'];
      const broken = await call(...args);
      expect(broken).toMatchObject({ code: 0, stderr: '' });
      expect(broken.stdout).toMatch(
        /^\/locks\/fresh-\d+ is broken: the holder was told, and has ended its work \(\d+ms\)\n$/,
      );
      expect(lock.signal.reason).toMatchObject({ code: 'LOCK_BROKEN', by: 'ada', reason: 'stuck since noon' });
      // The same line once more finds another state, and does nothing.
      expect(await call(...args)).toMatchObject({
        code: 1,
        stdout: '',
        stderr: expect.stringContaining('Nobody holds it now'),
      });
    });

    it('removes the holder by force when the grace is over, and says so in JSON', async () => {
      const client = await stage.open();
      const lock = await client.service.acquire(stage.freshKey());
      const token = `${lock.fencingToken}`;
      const broken = await call('break', lock.key, '--token', token, ...WHY, '--grace', '200ms', '--yes', '--json');
      expect(broken.code).toBe(0);
      expect(JSON.parse(broken.stdout)).toMatchObject({
        key: lock.key,
        token,
        ended: 'removed by force',
        nodePath: lock.nodePath,
      });
      await lock.release();
    });

    it('does nothing with the token of another holder, nor where nobody can be asked', async () => {
      const client = await stage.open();
      const lock = await client.service.acquire(stage.freshKey());
      const other = await call('break', lock.key, '--token', '1', ...WHY, '--yes', '--json');
      expect(other).toMatchObject({ code: 1, stdout: '' });
      expect(JSON.parse(other.stderr)).toMatchObject({ code: 'STALE_FENCING_TOKEN', key: lock.key });
      const unasked = await call('break', lock.key, '--token', `${lock.fencingToken}`, ...WHY);
      expect(unasked).toMatchObject({ code: 2, stdout: '', stderr: expect.stringContaining('add --yes') });
      expect(lock.isHeld()).toBe(true);
      await lock.release();
    });

    it.each<[string, number]>([
      ['n', 1],
      ['', 1],
      ['\u0003', 1],
      ['y', 0],
    ])('shows at a terminal who would lose the lock, and asks: %j', async (answer, code) => {
      const client = await stage.open();
      const lock = await client.service.acquire(stage.freshKey(), { label: 'Orders.ship' });
      lock.signal.addEventListener('abort', () => void lock.release());
      const asking = atTerminal('break', lock.key, '--token', `${lock.fencingToken}`, ...WHY);
      await asking.untilItSays('Break this lock? [y/N]');
      expect(asking.stdout).toMatch(/who +Orders\.ship on/);
      expect(lock.isHeld()).toBe(true);
      asking.type(`${answer}\r`);
      expect((await asking.finished).code).toBe(code);
      await eventually('the holder knows', () => lock.isHeld() === (code === 1));
      await lock.release();
    });

    it.each<[string, string[]]>([
      ['--reason is missing', ['--token', '5']],
      ['--token is missing', [...WHY]],
      ["not 'all'", ['--token', 'all', ...WHY]],
      ['at most 200 are told', ['--token', '5', '--reason', 'x'.repeat(201)]],
      ['break has no option --once', ['--token', '5', ...WHY, '--once']],
    ])('refuses with 2 before it connects: %s', async (text, args) => {
      const refused = await zkLock.call(['break', '/a', '--connect', '127.0.0.1:1', '--yes', ...args]);
      expect(refused).toEqual({ code: 2, stdout: '', stderr: expect.stringContaining(text) });
    });
  });

  it('drain ends the waits, and leaves the holder alone', async () => {
    const client = await stage.open();
    const lock = await client.service.acquire(stage.freshKey());
    const others = await stage.open();
    const waits = [outcomeOf(others.service.acquire(lock.key)), outcomeOf(others.service.acquire(lock.key))];
    await stage.untilQueueHas(lock.key, 3);
    expect(await call('drain', lock.key, ...WHY)).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('add --yes'),
    });

    const asking = atTerminal('drain', lock.key, ...WHY, '--grace', '500ms');
    await asking.untilItSays('End all these waits? [y/N]');
    expect(asking.stdout).toContain('is held, 2 wait');
    asking.type('y\r');
    const { code, stdout } = await asking.finished;
    expect([code, stdout]).toEqual([0, expect.stringContaining(`${lock.key} is drained: 2 waits ended`)]);
    for (const wait of waits) expect(await wait).toMatchObject({ code: 'LOCK_DRAINED', reason: 'stuck since noon' });
    expect(lock.isHeld()).toBe(true);
    const again = await call('drain', lock.key, ...WHY, '--yes', '--json', '--grace', '0ms');
    expect([again.code, JSON.parse(again.stdout)]).toEqual([0, { key: lock.key, removed: 0 }]);
    await lock.release();
  });

  it('clear opens a key that a holder which vanished has left closed, and shows first who that was', async () => {
    const client = await stage.open({ sessionTimeoutMs: 2 * TICK_MS });
    const lock = await client.service.acquire(stage.freshKey(), { onAbandoned: 'hold', label: 'Firmware.flash' });
    await lock.checkpoint({ block: 17 });
    await stage.expire(client);
    const token = `${lock.fencingToken}`;
    const shown = await call('show', lock.key);
    expect(shown.stdout).toMatch(/is held by nobody, because its last holder vanished inside/);
    const command = `npx -p nestjs-zookeeper-lock zk-lock clear '${lock.key}'`;
    expect(shown.stdout.replace(' \\\n   ', '')).toContain(`\n  ${command} --token ${token} --reason '...'\n`);
    const closed = await call('run', lock.key, '--once', '--', 'echo', 'ran');
    expect(closed).toMatchObject({ code: 122, stdout: '' });

    expect(await call('clear', lock.key, '--token', '1', ...WHY, '--yes')).toMatchObject({ code: 1, stdout: '' });
    const asking = atTerminal('clear', lock.key, '--token', token, ...WHY);
    await asking.untilItSays('may the key be opened? [y/N]');
    expect(asking.stdout).toMatch(/who +Firmware\.flash on/);
    expect(asking.stdout).toContain('{"block":17}');
    asking.type('y\r');
    expect((await asking.finished).code).toBe(0);
    expect(await call('run', lock.key, '--once', '--', 'echo', 'ran')).toEqual({
      code: 0,
      stdout: 'ran\n',
      stderr: '',
    });
    await lock.release();
  });
});
