import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { Logger } from '@nestjs/common';
import { LockDashboardModule } from '../../../lib/extras/dashboard/index.js';
import { DistributedLockModule } from '../../../lib/index.js';
import { killHolder } from '../../support/locks/kill-holder.js';
import { TICK_MS } from '../../support/locks/times.js';
import { outcomeOf } from '../../support/locks/witness.js';
import { eventually } from '../../support/process/eventually.js';
import { type StandaloneServer, startZooKeeper } from '../../support/zookeeper/start-zookeeper.js';
import { boot } from '../support/boot.js';
import { memory } from '../support/application.js';
import { startDashboard, type TestDashboard } from '../support/dashboard.js';
import { untilQueued } from '../support/queue.js';

const OPERATOR = { mayOperate: () => true, operatorOf: () => 'ada', scanEveryMs: 500 };

describe('The dashboard over a real ZooKeeper', () => {
  let server: StandaloneServer;
  let dashboard: TestDashboard;

  beforeAll(async () => {
    server = await startZooKeeper({ tickTimeMs: TICK_MS });
    const locks = { connect: server.connect, serverTickMs: TICK_MS, sessionTimeoutMs: 10_000, history: { keep: 10 } };
    dashboard = await startDashboard({ locks, dashboard: OPERATOR });
  });
  afterAll(async () => {
    await dashboard?.[Symbol.asyncDispose]();
    await server?.stop();
  });

  const page = (name: string, parameters: Record<string, string> = {}): Promise<string> =>
    dashboard.text(`/locks/${name}?${new URLSearchParams(parameters).toString()}`);
  /** Sends the form of a confirmation, and returns the page behind it. */
  async function take(parameters: Record<string, string>, fields: Record<string, string> = {}): Promise<string> {
    const confirmation = await page('step', parameters);
    const [, action] = /action="([^"]*)" method="post"/.exec(confirmation) ?? [];
    const body = new URLSearchParams({ reason: 'stuck since noon', ...fields });
    const headers = { 'sec-fetch-site': 'same-origin' };
    const answer = await dashboard.request(`/locks/${action?.replaceAll('&amp;', '&')}`, {
      method: 'POST',
      headers,
      body,
    });
    return answer.text();
  }

  it('lists what is held and waited for, with holder, template and queue', async () => {
    const lock = await dashboard.locks.acquire('/locks/a', { label: 'Orders.pay', template: '/locks/:id' });
    const waits = [1, 2].map(() => dashboard.locks.acquire('/locks/a', { label: 'Orders.cancel' }));
    await untilQueued(dashboard.locks, '/locks/a', 2);
    const row = await eventually('the next scan shows it', async () => {
      const text = await page('list');
      return /<tr role="row" data-id="\/locks\/a">[^]*?<\/tr>/.exec(text.replace(/>\s+</g, '><'))?.[0];
    });
    for (const text of ['held', 'Orders.pay', `:${process.pid}<`, '>2</td>', '/locks/:id']) expect(row).toContain(text);
    const one = await page('lock', { key: '/locks/a' });
    expect(one.match(/Orders\.cancel/g)).toHaveLength(2);
    expect(one).toContain(String(lock.fencingToken));
    expect(await page('graph')).toContain('2 calls wait for 1 lock');
    await lock.release();
    for (const wait of waits) await (await wait).release();
  });

  it('shows on one scale of time who held a lock before, and how that ended', async () => {
    await (await dashboard.locks.acquire('/locks/past', { label: 'Reports.first' })).release();
    await (await dashboard.locks.acquire('/locks/past', { label: 'Reports.second' })).release();
    const text = await eventually('the history is written', async () => {
      const shown = await page('lock', { key: '/locks/past' });
      return shown.includes('Reports.second') ? shown : undefined;
    });
    expect(text.indexOf('Reports.second')).toBeLessThan(text.indexOf('Reports.first'));
    expect(text).toMatch(/class="released"/);
  });

  it('has a session of its own, which is opened when somebody looks, and ends with the application', async () => {
    const connect = `${server.connect}/elsewhere`;
    const before = await server.dump();
    const own = await startDashboard({ locks: { connect, serverTickMs: TICK_MS } });
    const sessions = async (): Promise<number> => (await server.dump()).sessionIds.length - before.sessionIds.length;
    expect(await sessions()).toBe(1);
    await own.text('/locks/list');
    expect(await sessions()).toBe(2);
    await own[Symbol.asyncDispose]();
    await eventually('both sessions have ended', async () => (await sessions()) === 0);
  });

  it('breaks the lock that its page shows: the holder is told by whom and why, and the next enters', async () => {
    const stuck = await dashboard.locks.acquire('/locks/b');
    const told = new Promise((resolve) => stuck.signal.addEventListener('abort', resolve, { once: true }));
    const next = dashboard.locks.acquire('/locks/b');
    await untilQueued(dashboard.locks, '/locks/b');
    const token = String(stuck.fencingToken);
    const confirmation = await page('step', { do: 'break', key: '/locks/b', token });
    expect(confirmation).toContain(`token ${token}`);
    expect(stuck.isHeld()).toBe(true);
    const broken = take({ do: 'break', key: '/locks/b', token }, { grace: '60' });
    await told;
    expect(stuck.signal.reason).toMatchObject({ code: 'LOCK_BROKEN', by: 'ada', reason: 'stuck since noon' });
    await stuck.release();
    expect(await broken).toContain('The work of its holder had ended in time');
    const entered = await next;
    // The address of a page that was open for a while names a holder that has gone.
    const stale = await take({ do: 'break', key: '/locks/b', token }, { grace: '60' });
    expect(stale).toMatch(/Nothing was done[^]*It is held by token \d+/);
    expect(entered.isHeld()).toBe(true);
    await entered.release();
  });

  it('drains a queue: the waits end, and the holder goes on', async () => {
    await using lock = await dashboard.locks.acquire('/locks/c');
    const waits = [1, 2, 3].map(() => outcomeOf(dashboard.locks.acquire('/locks/c')));
    await untilQueued(dashboard.locks, '/locks/c', 3);
    expect(await take({ do: 'drain', key: '/locks/c' })).toContain('3 waits were ended');
    for (const wait of waits) expect(await wait).toMatchObject({ code: 'LOCK_DRAINED', by: 'ada' });
    expect(lock.isHeld()).toBe(true);
  });

  it('shows who vanished inside, and clears the key once that is put right', async () => {
    const token = await killHolder(server.connect, '/locks/d', { onAbandoned: 'hold', label: 'Transfers.book' });
    const shown = await eventually('the session of the one that was killed has ended', async () => {
      const text = await page('lock', { key: '/locks/d' });
      return text.includes('A holder vanished inside') ? text : undefined;
    });
    expect(shown).toContain('Transfers.book');
    expect(shown).toContain('abandoned</span>');
    await eventually('the list shows it', async () => (await page('list', { list: 'abandoned' })).includes('/locks/d'));
    expect(await take({ do: 'clear', key: '/locks/d', token: String(token) })).toContain('The key was opened again');
    const lock = await dashboard.locks.acquire('/locks/d');
    expect(lock.abandoned).toBeUndefined();
    await lock.release();
  });

  it('shows what others have written into their nodes, and lets none of it become a part of the page', async () => {
    const label = `<script>alert(1)</script>"'\u202e`;
    const key = '/locks/<img src=x onerror=alert(1)>';
    await using lock = await dashboard.locks.acquire(key, { label, template: '<b>' });
    const pages = await eventually('the next scan shows it', async () => {
      const list = await page('list', { q: '"><i>' });
      const all = await page('list');
      return all.includes('&lt;img src=x') ? [list, all, await page('lock', { key })] : undefined;
    });
    expect(lock.isHeld()).toBe(true);
    for (const text of pages) expect(text).not.toMatch(/<script>|<img|<b>|<i>|\u202e/);
    expect(pages[2]).toContain('&lt;script&gt;alert(1)&lt;/script&gt;&quot;&#39;\\u202e');
  });

  it('says of a key that cannot be one what is wrong with it', async () => {
    const answer = await dashboard.request('/locks/lock?key=no-slash');
    expect([answer.status, await answer.text()]).toEqual([400, expect.stringContaining('no-slash')]);
  });

  it('says that ZooKeeper does not answer, and not where it is; and opens when it answers again', async () => {
    await using own = await startZooKeeper({ tickTimeMs: TICK_MS });
    await own.kill();
    const locks = { connect: own.connect, serverTickMs: TICK_MS, startup: 'lazy', connectTimeoutMs: 300 } as const;
    await using lonely = await startDashboard({ locks });
    const answer = await lonely.request('/locks/list');
    const text = await answer.text();
    expect([answer.status, text]).toEqual([503, expect.stringContaining('ZooKeeper does not answer')]);
    expect(text).not.toContain(String(own.port));
    await own.start();
    const isThere = async (): Promise<boolean> => (await lonely.request('/locks/list')).status === 200;
    await eventually('the list is there', isThere, { withinMs: 20_000 });
  });

  it('reads the locks of an application with the client native by its own client', async () => {
    const locks = { connect: server.connect, serverTickMs: TICK_MS, client: 'native', startup: 'lazy' } as const;
    await using application = await startDashboard({ locks });
    expect((await application.request('/locks/list')).status).toBe(200);
  });
});

describe('An application with a dashboard', () => {
  it('does not start without a guard', () => {
    expect(() => LockDashboardModule.forRoot({ path: '/locks' })).toThrow(
      expect.objectContaining({ code: 'LOCK_CONFIGURATION' }),
    );
  });

  it('does not start without the connection whose locks are to be shown', async () => {
    const dashboard = LockDashboardModule.forRoot({ path: '/locks', unsafe: true, connection: 'stock' });
    const started = boot([DistributedLockModule.forRoot({ connect: memory() }), dashboard]);
    await expect(started).rejects.toMatchObject({
      code: 'LOCK_CONFIGURATION',
      details: expect.stringContaining(`no lock connection 'stock'`),
    });
  });

  it('may have one for each connection', async () => {
    const stock = { connect: memory(), name: 'stock' };
    await using dashboard = await startDashboard({
      imports: [
        DistributedLockModule.forRoot(stock),
        LockDashboardModule.forRoot({ path: '/stock', unsafe: true, connection: 'stock' }),
      ],
    });
    await using lock = await dashboard.locks.acquire('/locks/orders/1');
    expect(lock.isHeld()).toBe(true);
    expect(await dashboard.text('/locks/list')).toContain('/locks/orders/1');
    const other = await dashboard.text('/stock/list');
    expect(other).toContain('Connection <bdi>stock</bdi>');
    expect(other).toContain('No lock is held');
  });

  it('says at its start that nobody guards it, where that was asked for', async () => {
    const warn = jest.spyOn(Logger.prototype, 'warn');
    await using dashboard = await startDashboard();
    expect(dashboard.origin).toContain('127.0.0.1');
    const lines = warn.mock.calls.map(([line]) => String(line));
    warn.mockRestore();
    expect(lines.filter((line) => line.includes('The dashboard at /locks has no guard'))).toHaveLength(1);
  });
});
