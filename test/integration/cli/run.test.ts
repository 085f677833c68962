import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { isGroupRunning } from '../../../lib/extras/cli/run/process-group.js';
import { createLockDoctor } from '../../../lib/extras/doctor/index.js';
import { useZkLock } from '../../support/command-line/use-zk-lock.js';
import { AWHILE, UNTIL_GO } from '../../support/command-line/zk-lock-process.js';
import { LockStage } from '../../support/locks/lock-stage.js';

/** Says what it was given, and waits until a file is there. */
const WAITS = `echo "began $ZK_LOCK_KEY $ZK_LOCK_TOKEN $ZK_LOCK_NODE"; ${UNTIL_GO}; echo ended`;
/** For a shell that another one starts, which must leave its variables alone. */
const INNER = AWHILE.replaceAll('$', '\\$');

describe('zk-lock run', () => {
  const stage = new LockStage();
  const { zkLock, environment } = useZkLock(() => stage.connect);
  let folder: string;
  let key: string;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'zk-lock-run-'));
  });
  afterAll(() => rm(folder, { recursive: true }));

  const call = (...args: string[]) => zkLock.call(['run', ...args], environment());
  const start = (...args: string[]) => {
    key = stage.freshKey();
    return zkLock.start(['run', key, ...args], environment({ GO: join(folder, key.replaceAll('/', '_')) }));
  };
  const go = (): Promise<void> => writeFile(join(folder, key.replaceAll('/', '_')), '');

  it('runs the command under the lock, tells it key, token and node, and ends as it does', async () => {
    const running = start('--', 'sh', '-c', `${WAITS}; exit 7`);
    await running.untilItSays('began');
    const [place] = await stage.queue(key);
    const observer = await stage.open();
    const { holders } = await observer.service.inspect(key);
    expect(holders).toMatchObject([{ client: { label: 'zk-lock run sh' } }]);
    expect(running.stdout).toBe(`began ${key} ${holders[0]!.fencingToken} ${key}/${place}\n`);

    await go();
    expect(await running.finished).toEqual({ code: 7, stdout: expect.stringContaining('ended\n'), stderr: '' });
    expect(await stage.queue(key)).toEqual([]);
  });

  it('lets one of two run at a time, and the second begin when the first has ended', async () => {
    const order = join(folder, 'order');
    const script = `${WAITS}; echo first >> ${order}`;
    const first = start('--', 'sh', '-c', script);
    await first.untilItSays('began');
    const second = zkLock.start(
      ['run', key, '--', 'sh', '-c', `echo second >> ${order}; echo $ZK_LOCK_TOKEN`],
      environment(),
    );
    await second.untilItSays(`waiting for ${key}: held by zk-lock run sh on`);
    expect(second.stdout).toBe('');
    await go();
    const [one, other] = [await first.finished, await second.finished];
    expect([one.code, other.code]).toEqual([0, 0]);
    expect(await readFile(order, 'utf8')).toBe('first\nsecond\n');
    expect(BigInt(other.stdout)).toBeGreaterThan(BigInt(one.stdout.split(' ')[2]!));
  });

  it('leaves the command out with --once where the lock is busy, silently and with 0, and with another code where one is wanted', async () => {
    const client = await stage.open();
    const lock = await client.service.acquire(stage.freshKey());
    const command = ['--', 'echo', 'ran'];
    expect(await call('--once', lock.key, ...command)).toEqual({ code: 0, stdout: '', stderr: '' });
    expect(await call('--once', '--busy-code', '75', lock.key, ...command)).toEqual({
      code: 75,
      stdout: '',
      stderr: '',
    });
    const told = await call('--once', '--verbose', lock.key, ...command);
    expect(told).toEqual({ code: 0, stdout: '', stderr: `zk-lock: ${lock.key} is busy: the command was left out\n` });
    await lock.release();
    expect(await call('--once', lock.key, ...command)).toEqual({ code: 0, stdout: 'ran\n', stderr: '' });
  });

  it('runs once for an occurrence with --once --at-least, though the first run has long ended', async () => {
    const once = ['--once', '--at-least', '1h', stage.freshKey(), '--', 'echo', 'ran'];
    expect(await call(...once)).toMatchObject({ code: 0, stdout: 'ran\n' });
    expect(await call(...once)).toMatchObject({ code: 0, stdout: '' });
  });

  it('gives up after --wait with 122, and says who holds the lock', async () => {
    const client = await stage.open();
    const lock = await client.service.acquire(stage.freshKey(), { label: 'Reports.send' });
    const late = await call('--wait', '200ms', lock.key, '--', 'echo', 'ran');
    expect(late).toMatchObject({ code: 122, stdout: '' });
    expect(late.stderr).toMatch(/^zk-lock: The lock .* was still busy after \d+ ms\. It is held by Reports\.send on/);
    const json = await call('--json', '--wait', '200ms', lock.key, '--', 'echo', 'ran');
    expect(JSON.parse(json.stderr)).toMatchObject({ code: 'LOCK_TIMEOUT', key: lock.key });
    await lock.release();
  });

  it.each<[string, number, string[]]>([
    ['there is no such command', 127, ['no-such-program']],
    ['it is not executable', 126, ['/etc/passwd']],
    ['its name is empty', 127, ['']],
    ['a signal ends it', 137, ['sh', '-c', 'kill -KILL $$']],
  ])('ends as a shell would where %s: %i', async (_what, code, command) => {
    const once = stage.freshKey();
    expect(await call(once, '--', ...command)).toMatchObject({ code, stdout: '' });
    expect(await stage.queue(once)).toEqual([]);
  });

  it.each<NodeJS.Signals>(['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGQUIT'])(
    'passes %s on, also to the children of a shell, and releases when the command has ended',
    async (name) => {
      const handler = `trap 'sleep 0.2; echo "got ${name}"; exit 3' ${name.slice(3)}`;
      // The inner shell is what does the work: a signal to the outer one alone would leave it running.
      const running = start(
        '--',
        'sh',
        '-c',
        `sh -c "${handler.replaceAll('"', '\\"')}; echo began; ${INNER}"; exit $?`,
      );
      await running.untilItSays('began');
      running.signal(name);
      await running.untilItSays(`got ${name}`);
      expect((await running.finished).stdout).toContain(`got ${name}\n`);
      expect(await stage.queue(key)).toEqual([]);
    },
  );

  it('ends the wait with a signal, and starts nothing', async () => {
    const client = await stage.open();
    const lock = await client.service.acquire(stage.freshKey());
    const waiting = zkLock.start(['run', lock.key, '--', 'echo', 'ran'], environment());
    await stage.untilQueueHas(lock.key, 2);
    waiting.signal('SIGTERM');
    expect(await waiting.finished).toEqual({ code: 143, stdout: '', stderr: '' });
    expect(await stage.queue(lock.key)).toHaveLength(1);
    await lock.release();
  });

  it('stops the command, and what it has started, when the lock is broken: 121', async () => {
    // The inner process ignores SIGTERM, so only SIGKILL to the group ends it.
    const running = start('--grace', '300ms', '--', 'sh', '-c', `sh -c "trap '' TERM; echo inner $$; ${INNER}"`);
    await running.untilItSays('inner');
    const client = await stage.open();
    const [holder] = (await client.service.inspect(key)).holders;
    await using doctor = await createLockDoctor({ connect: stage.connect });
    const broken = await doctor.break(key, {
      token: holder!.fencingToken,
      by: 'ada',
      reason: 'stuck since noon',
      graceMs: 30_000,
    });
    const { code, stderr } = await running.finished;
    expect(code).toBe(121);
    expect(stderr).toContain('was broken');
    expect(stderr).toContain('by ada: stuck since noon');
    // The node went when the work had ended, and not by force.
    expect(broken.ended).toBe('in order');
    expect(isGroupRunning(Number(/inner (\d+)/.exec(running.stdout)![1]))).toBe(false);
  });

  it('passes Ctrl-C of a terminal on no second time: the command has got it by itself', async () => {
    key = stage.freshKey();
    // A shell would take two signals in quick succession for one.
    const script = `
      process.on('SIGINT', () => console.log('got INT'));
      console.log('began');
      setInterval(() => require('node:fs').existsSync(process.env.GO) && process.exit(), 20);
      setTimeout(() => process.exit(9), 30_000);`;
    const running = zkLock.startAtTerminal(
      ['run', key, '--', process.execPath, '--eval', script],
      environment({ GO: join(folder, key.replaceAll('/', '_')) }),
    );
    await running.untilItSays('began');
    running.type('\u0003');
    await running.untilItSays('got INT');
    await go();
    const { code, stdout } = await running.finished;
    expect([code, stdout.match(/got INT/g)]).toEqual([0, ['got INT']]);
  });

  it.each<[string, string[]]>([
    ['needs a command behind --', ['/locks/a']],
    ['write -- in front of the command', ['/locks/a', 'echo']],
    ['--grace takes a time with its unit', ['--grace', '5', '/locks/a', '--', 'echo', 'ran']],
    ['--busy-code takes a whole number from 0 to 255', ['--busy-code', '256', '/locks/a', '--', 'echo', 'ran']],
    ['Not a lock key', ['locks/a', '--', 'echo', 'ran']],
  ])('refuses with 2, and starts nothing: %s', async (text, args) => {
    expect(await call(...args)).toEqual({ code: 2, stdout: '', stderr: expect.stringContaining(text) });
  });

  it('ends with 123 where no ZooKeeper answers', async () => {
    const args = ['run', '--connect', '127.0.0.1:1', '--connect-timeout', '300ms', '/locks/a', '--', 'echo', 'ran'];
    expect(await zkLock.call(args)).toMatchObject({
      code: 123,
      stdout: '',
      stderr: expect.stringContaining('127.0.0.1:1'),
    });
  });
});
