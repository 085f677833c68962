import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { isGroupRunning } from '../../../lib/extras/cli/run/process-group.js';
import { useZkLock } from '../../support/command-line/use-zk-lock.js';
import { AWHILE, type ZkLockProcess } from '../../support/command-line/zk-lock-process.js';
import { SHORTEST_SESSION_MS, TICK_MS } from '../../support/locks/times.js';
import { eventually } from '../../support/process/eventually.js';
import { type StandaloneServer, startZooKeeper } from '../../support/zookeeper/start-zookeeper.js';

const KEY = '/locks/lost';
/** Ends at SIGTERM, in its own time. */
const OBEYS = `trap 'echo told; exit 0' TERM; echo "began $$"; ${AWHILE}`;
/** Must be killed. */
const IGNORES = `trap '' TERM; echo "began $$"; ${AWHILE}; echo "ended by itself"`;

describe('A lock of zk-lock run that is lost', () => {
  let server: StandaloneServer;
  const { zkLock, environment } = useZkLock(() => server.connect);

  beforeAll(async () => {
    server = await startZooKeeper({ tickTimeMs: TICK_MS });
  }, 60_000);
  afterAll(() => server.stop());

  const sessions = { ZK_LOCK_SESSION_TIMEOUT: `${2 * SHORTEST_SESSION_MS}ms` };
  const start = (script: string, ...options: string[]): ZkLockProcess =>
    zkLock.start(['run', ...options, KEY, '--', 'sh', '-c', script], environment(sessions));
  const groupOf = ({ stdout }: ZkLockProcess): number => Number(/began (\d+)/.exec(stdout)![1]);

  it('stops the command when the servers have been killed, and no later than S', async () => {
    const running = start(OBEYS);
    await running.untilItSays('began');
    await server.kill();
    await running.untilItSays('told');
    const { code, stderr } = await running.finished;
    // The code of the command itself, 0, would say that all went well.
    expect(code).toBe(121);
    expect(stderr).toMatch(/the command is stopped, with SIGKILL after 5s: The lock \/locks\/lost/);
    await server.start();
  });

  it('kills a command that does not end by itself, when the grace is over', async () => {
    const running = start(IGNORES, '--grace', '100ms');
    await running.untilItSays('began');
    await server.kill();
    const { code, stdout, stderr } = await running.finished;
    expect([code, stderr]).toEqual([121, expect.stringContaining('SIGKILL after 100ms')]);
    expect(stdout).not.toContain('ended by itself');
    expect(isGroupRunning(groupOf(running))).toBe(false);
    await server.start();
  });

  it('ends it as well where zk-lock cannot say so', async () => {
    const running = zkLock.startWithFull(
      'stderr',
      ['run', '--verbose', '--grace', '100ms', KEY, '--', 'sh', '-c', IGNORES],
      environment(sessions),
    );
    await running.untilItSays('began');
    await server.kill();
    const { code, stdout } = await running.finished;
    expect(code).toBe(121);
    expect(stdout).not.toContain('ended by itself');
    expect(isGroupRunning(groupOf(running))).toBe(false);
    await server.start();
  });

  it('stops the command when zk-lock stood still while its session ended', async () => {
    const running = start(OBEYS);
    await running.untilItSays('began');
    const isHeld = async (): Promise<boolean> =>
      [...(await server.dump()).ephemerals.values()].flat().some((path) => path.startsWith(KEY));
    expect(await isHeld()).toBe(true);
    await running.pause();
    await eventually('the session has ended', async () => !(await isHeld()), { withinMs: 20_000 });
    expect(running.stdout).not.toContain('told');
    await running.resume();
    expect(await running.finished).toMatchObject({ code: 121, stdout: expect.stringContaining('told') });
  });

  it('is found out when the command has ended in the meantime, too', async () => {
    const running = start('echo "began $$"; read -r line; exit 0');
    await running.untilItSays('began');
    await running.pause();
    running.type('go on\n');
    await eventually('the command has ended', () => !isGroupRunning(groupOf(running)));
    await eventually('the session has ended', async () => (await server.dump()).ephemerals.size === 0, {
      withinMs: 20_000,
    });
    await running.resume();
    expect((await running.finished).code).toBe(121);
  });
});
