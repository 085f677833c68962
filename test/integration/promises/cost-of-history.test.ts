import { describe, expect, it } from '@jest/globals';
import { LockDoctor } from '../../../lib/extras/doctor/index.js';
import { historyPath, historyRoot } from '../../../lib/queue/hold-history.js';
import { exists, get, list, remove } from '../../../lib/session/requests.js';
import type { LockClient } from '../../support/locks/lock-client.js';
import { LockStage } from '../../support/locks/lock-stage.js';
import { eventually } from '../../support/process/eventually.js';
import { replyTo } from '../../support/sessions/reply-to.js';

/** A timer may fire a little before its time by another clock. */
const SECOND_MS = 990;

describe('The history of locks', () => {
  const stage = new LockStage(1, { containerCheckIntervalMs: 500 });

  const ofHistory = (client: LockClient) =>
    client.requests().filter(({ path }) => path?.includes('/~history') === true);
  const writesOf = (client: LockClient) =>
    ofHistory(client).filter(({ opcode }) => opcode === 'setData' || opcode === 'create2');
  const ofLocks = (client: LockClient) =>
    client.requests().flatMap(({ opcode, path }) => (path?.includes('/~history') === true ? [] : [opcode]));

  it('costs a call nothing: it asks for the same with and without it', async () => {
    const asked: string[][] = [];
    for (const options of [{}, { history: { keep: 5 } }]) {
      const client = await stage.open(options);
      const key = stage.freshKey();
      for (let times = 0; times < 5; times += 1) await (await client.service.acquire(key)).release();
      asked.push(ofLocks(client).map(String));
    }
    expect(asked[1]).toEqual(asked[0]);
  });

  it('costs a process one read and one write a second at the most, however many locks it has', async () => {
    const client = await stage.open({ history: { keep: 5 } });
    const keys = Array.from({ length: 200 }, () => stage.freshKey());
    await eventually(
      'five writes',
      async () => {
        await Promise.all(keys.map((key) => client.service.withLock(key, () => undefined)));
        return writesOf(client).filter(({ path }) => path !== historyRoot('')).length >= 5;
      },
      { withinMs: 30_000, everyMs: 1 },
    );
    const reads = ofHistory(client).filter(({ opcode }) => opcode === 'getData');
    expect(reads.length).toBeGreaterThanOrEqual(5);
    // Each read begins one turn, with its write behind it.
    const gaps = reads.slice(1).map(({ at }, index) => at - reads[index]!.at);
    expect(Math.min(...gaps)).toBeGreaterThanOrEqual(SECOND_MS);
    expect(writesOf(client).filter(({ path }) => path !== historyRoot('')).length).toBeLessThanOrEqual(reads.length);
  });

  it('is merged by processes that write at the same time, and leaves the keys as they are', async () => {
    const key = stage.freshKey();
    const clients = [await stage.open({ history: { keep: 50 } }), await stage.open({ history: { keep: 50 } })];
    for (let round = 0; round < 5; round += 1)
      await Promise.all(
        clients.map(({ service }, index) => service.withLock(key, () => undefined, { label: `of ${index}` })),
      );
    const doctor = new LockDoctor((await stage.open()).service);
    const { holds, dropped } = await eventually('all are written', async () => {
      const history = await doctor.history(key);
      return history.holds.length === 10 ? history : undefined;
    });
    expect(dropped).toBe(0);
    expect(holds.filter(({ label }) => label === 'of 0')).toHaveLength(5);
    const tokens = holds.map(({ token }) => token);
    expect([...tokens].sort((one, other) => (one < other ? 1 : -1))).toEqual(tokens);
    expect(holds[0]).toMatchObject({ ended: 'released', pid: process.pid, mode: 'exclusive' });
    // The servers remove the key's node as ever, and keep the history.
    const operator = await stage.operator();
    await eventually('the container of the key is gone', async () => {
      const [found] = await operator.batch([exists(key)]);
      return found === undefined;
    });
    const { stat } = await replyTo(operator, get(historyPath('', key)));
    expect(stat.ephemeralOwner).toBe(0n);
    expect((await doctor.scan()).locks).toEqual([]);
    expect((await doctor.examine()).findings.filter(({ text }) => text.includes('~history'))).toEqual([]);
    for (const name of (await replyTo(operator, list(historyRoot('')))).children)
      await replyTo(operator, remove(`${historyRoot('')}/${name}`));
  });
});
