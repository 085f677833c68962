import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { createLockDoctor, type Finding, type LockDoctor } from '../../../lib/extras/doctor/index.js';
import { nextSequence } from '../../../lib/extras/doctor/findings/limits.js';
import { withBreaking } from '../../../lib/queue/intervention.js';
import { contenderId, namePrefix } from '../../../lib/queue/node-name.js';
import type { SessionClient } from '../../../lib/session/core/session-client.js';
import { create, type CreateMode, get, list, remove, set } from '../../../lib/session/requests.js';
import { LockStage } from '../../support/locks/lock-stage.js';
import { outcomeOf } from '../../support/locks/witness.js';
import { eventually } from '../../support/process/eventually.js';
import { replyTo } from '../../support/sessions/reply-to.js';

const OUR_ID = contenderId('11111111-1111-4111-a111-111111111111');

describe('An examination, on real servers,', () => {
  let doctor: LockDoctor;
  let operator: SessionClient;
  /** The nodes that the test has made by hand, the last one first. */
  let made: string[];

  // What stays behind is looked for by the stage, after this.
  afterEach(async () => {
    jest.restoreAllMocks();
    await doctor.close();
    for (const path of made.reverse()) await operator.batch([remove(path)]);
  });
  const stage = new LockStage();
  beforeEach(async () => {
    doctor = await createLockDoctor({ connect: stage.connect });
    operator = await stage.operator();
    made = [];
  });
  async function make(path: string, mode: CreateMode, data = ''): Promise<string> {
    const created = await replyTo(operator, create(path, mode, Buffer.from(data)));
    made.push(created.path);
    return created.path;
  }

  /** A key with its node, and nobody there. */
  async function idleKey(): Promise<string> {
    const key = stage.freshKey();
    await operator.batch([create('/locks', 'container'), create(key, 'container')]);
    return key;
  }

  async function findingsOf(prefix: string, kind: Finding['kind'], options = {}): Promise<readonly Finding[]> {
    const { findings } = await doctor.examine({ prefix, ...options });
    return findings.filter((finding) => finding.kind === kind);
  }

  it('finds nothing among locks that come and go', async () => {
    const client = await stage.open();
    const key = stage.freshKey();
    const lock = await client.service.acquire(key);
    expect(await doctor.examine({ prefix: key })).toMatchObject({ findings: [], costliest: [] });
    await lock.release();
    expect((await doctor.examine({ prefix: key })).findings).toEqual([]);
  });

  it('ranks keys by what is waited for them, with who is in the way and the line that breaks its lock', async () => {
    const [holder, other] = [await stage.open(), await stage.open()];
    const [parent, label] = [stage.freshKey(), 'settle'];
    const [busy, quiet] = [`${parent}/busy's`, `${parent}/quiet`];
    const locks = [await holder.service.acquire(busy, { label }), await holder.service.acquire(quiet)];
    const waits = [busy, busy, busy, quiet].map((key) => other.service.acquire(key));
    await stage.untilQueueHas(busy, 4);
    await stage.untilQueueHas(quiet, 2);

    const { costliest, findings } = await doctor.examine({ prefix: parent, longHoldMs: 0, longQueue: 2 });
    expect(costliest.map(({ key, waiting }) => [key, waiting])).toEqual([
      [busy, 3],
      [quiet, 1],
    ]);
    const token = locks[0]!.fencingToken;
    expect(costliest[0]!.blocker).toMatchObject({ fencingToken: token, client: { label, pid: process.pid } });
    const quoted = `'${parent}/busy'\\''s'`;
    expect(costliest[0]!.breakLine).toMatch(
      `npx -p nestjs-zookeeper-lock zk-lock break ${quoted} --token ${token} --reason '`,
    );
    const kinds = findings.map(({ kind, severity, key }) => [kind, severity, key]);
    expect(kinds).toEqual([
      ['long hold', 'warning', busy],
      ['long hold', 'warning', quiet],
      ['long queue', 'warning', busy],
      ['wait without a label', 'notice', undefined],
    ]);
    expect(findings[0]!.text).toContain(`settle, ${costliest[0]!.blocker!.client!.host}, pid ${process.pid}`);
    expect(findings[0]!.advice).toContain(costliest[0]!.breakLine!.split(' --reason')[0]);
    for (const lock of locks) await lock.release();
    for (const wait of waits) await (await wait).release();
  });

  it('finds a deadlock of two processes', async () => {
    const [one, other] = [await stage.open(), await stage.open()];
    const key = stage.freshKey();
    const [a, b] = [`${key}/a`, `${key}/b`];
    const nested = ({ service }: typeof one, outer: string, inner: string): Promise<unknown> =>
      outcomeOf(
        service.withLock(outer, async () => (await service.acquire(inner, { label: 'inner' })).release(), {
          label: outer,
        }),
      );
    const both = [nested(one, a, b), nested(other, b, a)];
    await stage.untilQueueHas(a, 2);
    await stage.untilQueueHas(b, 2);
    const [found] = await findingsOf(key, 'deadlock');
    expect(found).toMatchObject({
      severity: 'critical',
      text: expect.stringContaining('2 callers wait for each other'),
    });
    const [, line] = /(zk-lock break '[^']+' --token \d+)/.exec(found!.advice)!;
    const [, broken, token] = /break '([^']+)' --token (\d+)/.exec(line!)!;
    await doctor.break(broken!, { token: BigInt(token!), by: 'ada', reason: 'deadlock', graceMs: 0 });
    await Promise.all(both);
    expect(await findingsOf(key, 'deadlock')).toEqual([]);
  });

  it('finds a key that a vanished holder has left closed, and says how to open it', async () => {
    const client = await stage.open();
    const key = stage.freshKey();
    const lock = await client.service.acquire(key, { onAbandoned: 'hold', label: 'pay' });
    await stage.deleteNode(lock.nodePath);
    await eventually('the loss is told', () => !lock.isHeld());
    const [found] = await findingsOf(key, 'abandoned');
    expect(found).toMatchObject({ severity: 'critical', key, text: expect.stringContaining('pay, ') });
    expect(found!.advice).toContain(`zk-lock clear '${key}' --token ${lock.fencingToken} `);
    await doctor.clear(key, { token: lock.fencingToken, by: 'ada', reason: 'repaired' });
    expect(await findingsOf(key, 'abandoned')).toEqual([]);
    await lock.release();
  });

  it('finds nodes in a queue that nobody will remove', async () => {
    const client = await stage.open();
    const [persistent, left, drained, broken] = [await idleKey(), await idleKey(), await idleKey(), stage.freshKey()];
    const copied = await make(`${persistent}/${namePrefix('exclusive', OUR_ID)}`, 'persistent-sequential', '{}');
    const intent = await make(`${left}/${namePrefix('write', OUR_ID)}`, 'ephemeral-sequential');
    await make(`${drained}/~drained`, 'persistent', JSON.stringify({ by: 'ada', reason: 'tests', at: 1 }));
    const lock = await client.service.acquire(broken);
    const { data } = await replyTo(operator, get(lock.nodePath));
    const breaking = { by: 'bob', reason: 'stuck', at: Date.now() - 120_000 };
    await replyTo(operator, set(lock.nodePath, withBreaking(data, breaking)));

    const [one] = await findingsOf(persistent, 'orphan');
    expect(one).toMatchObject({ severity: 'critical', key: persistent });
    expect(one!.text).toMatch(`${copied} is in the queue and belongs to no session`);
    expect(one!.advice).toMatch(`zk-lock break '${persistent}' --token `);
    const [two] = await findingsOf(left, 'orphan');
    expect(two).toMatchObject({ severity: 'critical', key: left, text: expect.stringContaining(intent) });
    const [three] = await findingsOf(drained, 'orphan');
    expect(three!.advice).toContain(`zkCli.sh delete '${drained}/~drained'`);
    const [four] = await findingsOf(broken, 'orphan');
    expect(four).toMatchObject({
      severity: 'warning',
      key: broken,
      text: expect.stringContaining('bob (stuck) 2 min ago'),
    });
    await lock.release();
    // A persistent node in a queue is broken as the advice says.
    const token = BigInt(/--token (\d+)/.exec(one!.advice)![1]!);
    await doctor.break(persistent, { token, by: 'ada', reason: 'no session', graceMs: 0 });
    expect(await findingsOf(persistent, 'orphan')).toEqual([]);
  });

  it('finds clients of another make, families that do not see each other, and what is no lock', async () => {
    const client = await stage.open();
    const key = await idleKey();
    await make(`${key}/lock-`, 'ephemeral-sequential', '192.0.2.7');
    expect(await findingsOf(key, 'foreign node')).toMatchObject([{ severity: 'notice', key }]);
    await make(`${key}/${namePrefix('read', OUR_ID)}`, 'ephemeral-sequential', '{"clientId":"c","owner":"o"}');
    expect(await findingsOf(key, 'foreign node')).toMatchObject([
      { severity: 'critical', key },
      { severity: 'notice', key },
    ]);
    const other = await idleKey();
    const lock = await client.service.acquire(`${other}/lock`);
    await make(`${other}/leader`, 'ephemeral', 'somebody');
    await make(`${other}/config`, 'persistent', '{"some":"settings"}');
    const [found] = await findingsOf(other, 'foreign node');
    expect(found!.text).toContain(`2 nodes below ${other} are no locks, and not of this package`);
    await lock.release();
  });

  it('goes on beside what it may not read, and says so', async () => {
    const client = await stage.open();
    const key = await idleKey();
    const lock = await client.service.acquire(`${key}/open`);
    const closed = [{ permissions: 30, scheme: 'world', id: 'anyone' }];
    await replyTo(operator, create(`${key}/closed`, 'persistent', undefined, closed));
    made.push(`${key}/closed`);
    const secret = `${key}/secret`;
    await replyTo(operator, create(secret, 'container'));
    const name = await replyTo(
      operator,
      create(`${secret}/${namePrefix('exclusive', OUR_ID)}`, 'ephemeral-sequential', Buffer.from('{}'), closed),
    );
    made.push(name.path);
    const { locks, unreadable } = await doctor.scan({ prefix: key });
    expect(locks.map((row) => [row.key, row.holders.length, row.holders[0]!.client?.pid])).toEqual([
      [`${key}/open`, 1, process.pid],
      [secret, 1, undefined],
    ]);
    expect(locks[1]!.holders[0]!.fencingToken).toBe(name.stat.czxid);
    expect(unreadable).toBe(1);
    const [found] = (await findingsOf(key, 'foreign node')).filter(({ text }) => text.includes('NO_AUTH'));
    expect(found!.text).toContain(`${key}/closed (NO_AUTH)`);
    expect(await outcomeOf(doctor.scan({ prefix: `${key}/closed` }))).toMatchObject({ code: 'LOCK_CONFIGURATION' });
    await lock.release();
  });

  it('knows the next number of a queue by what servers tell of its node', async () => {
    const key = await idleKey();
    for (const count of [3, 0, 2]) {
      const paths = [];
      for (let index = 0; index < count; index += 1) paths.push(await make(`${key}/lock-`, 'ephemeral-sequential'));
      await make(`${key}/other${count}`, 'ephemeral');
      const { stat } = await replyTo(operator, list(key));
      const next = await make(`${key}/lock-`, 'ephemeral-sequential');
      expect(Number(next.slice(-10))).toBe(nextSequence(stat));
      for (const path of paths) await replyTo(operator, remove(path));
    }
  });

  it('finds a session whose end is too long for one piece', async () => {
    const key = await idleKey();
    // Few nodes with long paths have as many bytes as thousands of short ones.
    const long = `${key}/${'x'.repeat(2_000)}`;
    await replyTo(operator, create(long, 'container'));
    for (let index = 0; index < 300; index += 1)
      await make(`${long}/${namePrefix('read', OUR_ID)}`, 'ephemeral-sequential', '{}');
    const [found] = await findingsOf(key, 'session near its limit');
    expect(found).toMatchObject({ severity: 'warning', key: undefined });
    expect(found!.text).toMatch(/has 300 nodes here.* is 5\d % of what they take/);
    for (const path of made.splice(0)) await replyTo(operator, remove(path));
    expect(await findingsOf(key, 'session near its limit')).toEqual([]);
  });

  it('finds empty nodes that the servers should have removed long ago, where it can know since when they are empty', async () => {
    const key = await idleKey();
    const unused = await make(`${key}/never-used`, 'container');
    const used = await make(`${key}/used`, 'persistent');
    await replyTo(operator, create(`${used}/child`, 'persistent'));
    await replyTo(operator, remove(`${used}/child`));
    expect(await findingsOf(key, 'container not reaped')).toEqual([]);
    const realNow = Date.now;
    jest.spyOn(Date, 'now').mockImplementation(() => realNow() + 20 * 60_000);
    const [found] = await findingsOf(key, 'container not reaped');
    expect(found).toMatchObject({ severity: 'notice', text: expect.stringContaining('2 empty nodes stay') });
    expect(found!.text).toContain(unused);
    expect(found!.text).toContain('1 of them never had a child');
    // The numbers of transactions tell since when only as far as something younger was seen: another doctor has seen nothing.
    await using newcomer = await createLockDoctor({ connect: stage.connect });
    const { findings } = await newcomer.examine({ prefix: used });
    expect(findings).toEqual([]);
  });
});
