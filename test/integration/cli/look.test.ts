import { execFileSync } from 'node:child_process';
import { describe, expect, it } from '@jest/globals';
import type {
  LockExaminationJson,
  LockHistoryJson,
  LockScanJson,
  WaitGraphJson,
} from '../../../lib/extras/doctor/index.js';
import type { LockSnapshotJson } from '../../../lib/index.js';
import { encodeHistory, historyPath } from '../../../lib/queue/hold-history.js';
import { create } from '../../../lib/session/requests.js';
import { eventually } from '../../support/process/eventually.js';
import { useZkLock } from '../../support/command-line/use-zk-lock.js';
import type { Finished } from '../../support/command-line/zk-lock-process.js';
import type { LockClient } from '../../support/locks/lock-client.js';
import { LockStage } from '../../support/locks/lock-stage.js';
import { TICK_MS } from '../../support/locks/times.js';
import { replyTo } from '../../support/sessions/reply-to.js';

const LONG_KEY = `/looks/long/${'a-part-of-a-name/'.repeat(6)}the-end`;

describe('zk-lock', () => {
  const stage = new LockStage();
  const { zkLock, environment } = useZkLock(() => stage.connect);
  const call = (...args: string[]): Promise<Finished> => zkLock.call(args, environment());

  /** One holds and two wait; each of a test's keys is below a prefix of its own. */
  async function busy(client: LockClient, key: string): Promise<{ token: bigint; end: () => Promise<void> }> {
    const lock = await client.service.acquire(key, { label: 'Orders.ship' });
    const others = await stage.open();
    const waiting = ['first', 'second'].map((label) => others.service.acquire(key, { label }));
    await stage.untilQueueHas(key, 3);
    const end = async (): Promise<void> => {
      await lock.release();
      for (const one of waiting) await (await one).release();
    };
    return { token: lock.fencingToken, end };
  }

  describe('ls', () => {
    it('lists the locks below a prefix: for programs whole, at a terminal in 80 columns', async () => {
      const client = await stage.open();
      const { token, end } = await busy(client, '/looks/a');
      const long = await client.service.acquire(LONG_KEY, { label: 'Reports.sendTheWholeSummaryOfTheDay' });
      const elsewhere = await client.service.acquire('/elsewhere');

      const json = await call('ls', '/looks', '--json');
      expect([json.code, json.stderr]).toEqual([0, '']);
      const { locks } = JSON.parse(json.stdout) as LockScanJson;
      expect(locks).toMatchObject([
        { key: '/looks/a', state: 'HELD', waiting: 2, holders: [{ fencingToken: `${token}` }] },
        { key: LONG_KEY, waiting: 0 },
      ]);

      const piped = await call('ls', '/looks');
      expect(piped.stdout).toMatch(
        /^KEY +STATE +ASKED +WAITING +LONGEST +HOLDER\n\/looks\/a +HELD +\S+ ago +2 +\S+ +Orders\.ship on /,
      );
      expect(piped.stdout).toContain(LONG_KEY);

      const terminal = await zkLock.startAtTerminal(['ls', '/looks'], environment()).finished;
      expect(terminal.stdout).toMatch(/\d+ nodes? read, \d+ locks?/);
      const lines = linesOf(terminal.stdout);
      expect(lines.filter((line) => line.length > 80)).toEqual([]);
      expect(lines.join('\n')).toMatch(/^\/looks\/long\/\S*…\S*\/the-end +HELD/m);
      for (const lock of [long, elsewhere]) await lock.release();
      await end();
    });

    it('says on stderr that there is none', async () => {
      const none = await call('ls', '/nothing');
      expect(none).toEqual({
        code: 0,
        stdout: '',
        stderr: 'zk-lock: nobody holds a lock, or waits for one, below /nothing\n',
      });
    });
  });

  describe('show', () => {
    it('says who holds, who waits, and how to break it', async () => {
      const { token, end } = await busy(await stage.open(), '/shown');
      const shown = await call('show', '/shown');
      expect(shown.code).toBe(0);
      expect(shown.stdout).toMatch(/^\/shown is held, 2 wait\n/);
      expect(shown.stdout).toMatch(/^ {2}who +Orders\.ship on \S+ \(pid \d+\)$/m);
      expect(shown.stdout).toMatch(/^ +1 +\S+ +exclusive +first on .*\n +2 +\S+ +exclusive +second on /m);
      const command = `npx -p nestjs-zookeeper-lock zk-lock break '/shown'`;
      expect(shown.stdout.replace(' \\\n   ', '')).toContain(`\n  ${command} --token ${token} --reason '...'\n`);

      const { holders, queueLength } = JSON.parse((await call('show', '/shown', '--json')).stdout) as LockSnapshotJson;
      expect({ holders, queueLength }).toMatchObject({ holders: [{ fencingToken: `${token}` }], queueLength: 2 });
      await end();
    });

    it('says that a lock is free, and shows what others wrote without obeying it', async () => {
      expect(await call('show', '/free')).toEqual({ code: 0, stdout: '/free is free\n', stderr: '' });
      const client = await stage.open();
      const lock = await client.service.acquire('/evil', { label: 'a\u001b[2Jb\nc\u202ed' });
      const { stdout } = await call('show', '/evil');
      expect(stdout).toContain('who      a\\u001b[2Jb\\u000ac\\u202ed on');
      await lock.release();
    });

    it('paints nothing with NO_COLOR, nor in a pipe; at a terminal it does', async () => {
      const plain = [
        await call('check'),
        await zkLock.startAtTerminal(['check'], environment({ NO_COLOR: '1' })).finished,
      ];
      for (const { stdout } of plain) expect(stdout).not.toContain('\u001b[3');
      const painted = await zkLock.startAtTerminal(['check'], environment()).finished;
      expect(painted.stdout).toContain('\u001b[32mok');
      expect(linesOf(painted.stdout).filter((line) => line.length > 80)).toEqual([]);
    });
  });

  it('watch prints a line for each change, in JSON a document, and ends with Ctrl-C', async () => {
    const watching = [
      zkLock.start(['watch', '/watched'], environment()),
      zkLock.start(['watch', '/watched', '--json'], environment()),
    ];
    for (const one of watching) await one.untilItSays('FREE');
    const client = await stage.open();
    const lock = await client.service.acquire('/watched', { label: 'Orders.ship' });
    await watching[0]!.untilItSays(
      new RegExp(`^\\d\\d:\\d\\d:\\d\\d  HELD     0 wait    token ${lock.fencingToken}  Orders.ship on`, 'm'),
    );
    await watching[1]!.untilItSays('HELD');
    await lock.release();
    await watching[0]!.untilItSays(/HELD[^]*FREE/);
    await watching[1]!.untilItSays(/HELD[^]*FREE/);
    for (const one of watching) one.signal('SIGINT');
    const [, json] = await Promise.all(watching.map(({ finished }) => finished));
    const states = json!.stdout
      .trim()
      .split('\n')
      .map((line) => (JSON.parse(line) as LockSnapshotJson).state);
    expect([json!.code, states[0], states.includes('HELD'), states.at(-1)]).toEqual([0, 'FREE', true, 'FREE']);
  });

  it('graph shows who waits for whom, for people, for programs and for Graphviz', async () => {
    const { end } = await busy(await stage.open(), '/graphed/"a"');
    const text = await call('graph', '/graphed');
    expect(text).toMatchObject({ code: 0, stderr: '' });
    expect(text.stdout).toMatch(
      /^\/graphed\/"a"\n {2}held by {4}Orders\.ship.*\n {2}waited by {2}first.*\n {2}waited by {2}second/,
    );
    const dot = await call('graph', '/graphed', '--dot');
    expect(dot.stdout).toMatch(/^digraph waits \{\n[^]*\n\}\n$/);
    expect(dot.stdout).toContain('label="/graphed/\\"a\\""');
    expect(dot.stdout.match(/label="waits for"/g)).toHaveLength(2);
    const { edges } = JSON.parse((await call('graph', '/graphed', '--json')).stdout) as WaitGraphJson;
    expect(edges.map(({ kind }) => kind).sort()).toEqual(['held by', 'waits for', 'waits for']);
    expect(await call('graph', '--dot', '--json')).toMatchObject({ code: 2, stdout: '' });
    await end();
  });

  it('doctor says what is wrong and what to paste, and ends with 1; with nothing to say with 0', async () => {
    const { token, end } = await busy(await stage.open(), `/examined${LONG_KEY}`);
    expect(await call('doctor', '/examined')).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('Nothing was found. 1 lock was examined.\n'),
    });
    const terminal = await zkLock.startAtTerminal(['doctor', '/examined', '--long-hold', '0ms'], environment())
      .finished;
    expect(terminal.code).toBe(1);
    const lines = linesOf(terminal.stdout);
    expect(lines[0]).toMatch(/^warning {2}long hold {2}\/examined\S*…\S*\/the-end$/);
    const commands = lines.filter(
      (line) => line.length > 80 && !line.startsWith(`    /examined`) && !line.startsWith('  /examined'),
    );
    // Once in the finding, once behind the key that is waited for most.
    expect(commands.map((line) => line.split(' --reason ')[0]!.trim())).toEqual(
      Array(2).fill(`npx -p nestjs-zookeeper-lock zk-lock break '/examined${LONG_KEY}' --token ${token}`),
    );
    const json = await call('doctor', '/examined', '--long-hold', '0ms', '--json');
    const { locks, findings, costliest } = JSON.parse(json.stdout) as LockExaminationJson;
    expect([json.code, locks, findings.map(({ kind }) => kind), costliest.map(({ waiting }) => waiting)]).toEqual([
      1,
      1,
      ['long hold'],
      [2],
    ]);
    await end();
  });

  it.each(['ls --json', 'doctor'])(
    'ends with 70 where its result cannot be written, and says so in one sentence: %s',
    async (line) => {
      const lost = await zkLock.startWithFull('stdout', line.split(' '), environment()).finished;
      expect(lost.code).toBe(70);
      expect(lost.stderr.match(/the result cannot be written to stdout: ENOSPC/g)).toHaveLength(1);
      expect(lost.stderr.trim()).not.toContain('\n');
    },
  );

  it('doctor and show give a line that works as it stands, though the servers were named by options alone', async () => {
    const { token, end } = await busy(await stage.open(), "/pasted/it's");
    const options = ['--connect', stage.connect, '--server-tick', `${TICK_MS}ms`];
    const shown = await zkLock.call(['show', "/pasted/it's", ...options]);
    const [, showLine] = /If it is stuck:\n([^]*)$/.exec(shown.stdout)!;
    expect(wordsOf(showLine!)).toEqual(['break', "/pasted/it's", ...options, '--token', `${token}`, '--reason', '...']);

    const examined = await zkLock.call(['doctor', '/pasted', '--long-hold', '0ms', ...options]);
    const lines = examined.stdout.split('\n').filter((line) => line.startsWith('    npx '));
    expect(lines).toHaveLength(2);
    expect(lines[0]).toBe(lines[1]);
    const broken = await zkLock.call([...wordsOf(lines[0]!), '--yes', '--grace', '0ms']);
    expect(broken).toMatchObject({ code: 0, stdout: expect.stringContaining("/pasted/it's is broken") });
    await end();
  });

  it('history shows the last holds of a lock, the last one first, and says where nothing is kept', async () => {
    const client = await stage.open({ history: { keep: 10 } });
    for (const label of ['Orders.ship', 'Orders.cancel']) {
      const lock = await client.service.acquire('/past', { label });
      await lock.release();
    }
    const kept = async (): Promise<string | undefined> => {
      const { code, stdout } = await call('history', '/past');
      expect(code).toBe(0);
      return stdout.includes('Orders.cancel') ? stdout : undefined;
    };
    // It is written in the background, once a second at the most.
    const text = await eventually('both holds are kept', kept);
    expect(text).toMatch(
      /^SINCE +HELD +WAITED +ENDED +TOKEN +WHO\n.* UTC +\S+ +\S+ +released +\d+ {2}Orders\.cancel on .*\n.*Orders\.ship on /,
    );
    const { holds } = JSON.parse((await call('history', '/past', '--json')).stdout) as LockHistoryJson;
    expect(holds.map(({ label, ended }) => [label, ended])).toEqual([
      ['Orders.cancel', 'released'],
      ['Orders.ship', 'released'],
    ]);

    // A busy process has more to tell than it can write down.
    const operator = await stage.operator();
    await replyTo(
      operator,
      create(historyPath('', '/crowded'), 'persistent', encodeHistory({ holds: [], dropped: 7 })),
    );
    const crowded = await call('history', '/crowded');
    expect(crowded).toMatchObject({ code: 0, stdout: '' });
    expect(crowded.stderr).toMatch(
      /^zk-lock: 7 holds of \/crowded, or of keys .* could not be written down in time\n$/,
    );

    const none = await call('history', '/nothing');
    expect(none).toMatchObject({ code: 0, stdout: '', stderr: expect.stringContaining('nothing is kept of /nothing') });
  });

  it.each([['ls'], ['show', '/a'], ['graph'], ['history', '/a'], ['doctor']])(
    '%s ends with 3 where no server answers',
    async (...args) => {
      const away = await zkLock.call([...args, '--connect', '127.0.0.1:1', '--connect-timeout', '200ms']);
      expect(away).toMatchObject({
        code: 3,
        stdout: '',
        stderr: expect.stringMatching(/^zk-lock: [^\n]*127\.0\.0\.1:1[^\n]*\n$/),
      });
    },
  );
});

/** What a shell makes of a line to paste: the words behind the name of the command. */
function wordsOf(line: string): string[] {
  const print = `zk-lock() { for word in "$@"; do printf '%s\\0' "$word"; done; }; npx() { shift 2; "$@"; }`;
  return execFileSync('bash', ['-c', `${print}; ${line}`], { encoding: 'utf8' })
    .split('\0')
    .slice(0, -1);
}

/** What a terminal shows, without colours and what was wiped away. */
function linesOf(output: string): string[] {
  return output.split('\n').map((line) =>
    line
      .replace(/\r$/, '')
      .replace(/^[^]*\r\u001b\[K/, '')
      .replace(/\u001b\[\d+m/g, ''),
  );
}
