import { beforeEach, describe, expect, it } from '@jest/globals';
import { decodeContender, encodeContender, parseObject } from '../../../lib/queue/node-data.js';
import { LOCK_MODES } from '../../../lib/lock/mode.js';
import { create, set } from '../../../lib/session/requests.js';
import { replyTo } from '../../support/sessions/reply-to.js';
import { useEngine } from '../engine/support/use-engine.js';

const KEY = '/locks/stock';
const LEVELS = 200_000;
const OURS = '"clientId":"c","owner":"o"';

function nested(open: string, inside: string, close: string): string {
  return open.repeat(LEVELS) + inside + close.repeat(LEVELS);
}

/** What a client of another make, or a person with zkCli, may have written into a node of the queue. */
const STRANGE: readonly (readonly [string, string])[] = [
  ['an object in the place of a text', `{${OURS},"host":{"toString":1},"pid":7}`],
  ['an object in the place of a number', `{${OURS},"pid":{"valueOf":1},"askedAt":{"toString":1},"host":"h"}`],
  ['lists inside of lists', `{${OURS},"host":${nested('[', '', ']')},"label":${nested('[', '', ']')}}`],
  ['objects inside of objects', nested('{"":', '1', '}')],
  ['a text of 900 KB', `{${OURS},"host":"${'x'.repeat(900 * 1024)}"}`],
  ['no JSON', '{{{'],
  ['nothing of ours', '{"host":{"toString":1}}'],
  ['a list', '[1,2,3]'],
  ['null in every place', `{${OURS},"host":null,"pid":null,"label":null,"mode":null,"askedAt":null}`],
  ['names of the prototype', `{${OURS},"__proto__":{"host":"x"},"constructor":1,"toString":1}`],
];

describe('what others wrote into a node', () => {
  const { engine, one } = useEngine('one');
  beforeEach(async () => {
    await engine.settle(one.session.batch([create('/locks', 'container'), create(KEY, 'container')]));
  });

  it.each(STRANGE)('does not keep inspect() and watch() from showing the queue: %s', async (_what, text) => {
    await engine.settle(replyTo(one.session, create(`${KEY}/lock-`, 'ephemeral-sequential', Buffer.from(text))));
    const snapshot = await engine.settle(one.locks.inspect(KEY));
    expect(snapshot).toMatchObject({ state: 'HELD', holders: [{ mode: 'exclusive' }] });
    expect(JSON.stringify(snapshot.holders[0]?.client ?? null).length).toBeLessThan(2_000);

    const seen: string[] = [];
    const subscription = one.locks.watch(KEY).subscribe({
      next: ({ state }) => seen.push(state),
      error: (error: unknown) => seen.push(String(error)),
    });
    await engine.runFor(100);
    subscription.unsubscribe();
    expect(seen).toEqual(['HELD']);
  });

  it('is shown as far as it can be read', () => {
    const client = (text: string): unknown => decodeContender(Buffer.from(`{${OURS},${text}}`));
    const nothing = { clientId: 'c', owner: 'o' };
    expect(client('"host":{"toString":1},"pid":7,"mode":"read"')).toEqual({ ...nothing, pid: 7, mode: 'read' });
    expect(client('"host":"h","pid":"7","mode":"sideways","askedAt":1e999')).toEqual({ ...nothing, host: 'h' });
    expect(client('"askedAt":8640000000000001,"pid":7')).toEqual({ ...nothing, pid: 7 });
    expect(client('"askedAt":"2026-11-19","pid":7')).toEqual({ ...nothing, pid: 7 });
    expect(client('"label":["x"],"leaseMs":{},"lockDelayMs":5')).toEqual({ ...nothing, lockDelayMs: 5 });
    expect(client(`"label":"${'x'.repeat(5_000)}"`)).toEqual({ ...nothing, label: `${'x'.repeat(255)}…` });
  });

  it('does not stop those who read the record of a lock-delay', async () => {
    const careful = await engine.client('careful', { lockDelayMs: 500, waitMs: 3_000 });
    const records = ['{"nodeName":{"toString":1},"lockDelayMs":5}', '{"nodeName":"x","lockDelayMs":1e999}'];
    for (const text of [...STRANGE.map(([, strange]) => strange), ...records]) {
      await engine.settle(replyTo(one.session, set(KEY, Buffer.from(text))));
      expect((await engine.settle(careful.locks.inspect(KEY))).state).toBe('FREE');
      await engine.settle((await engine.settle(careful.locks.acquire(KEY))).release());
    }
  });

  it('is not read where it is longer than anything of ours', () => {
    const text = JSON.stringify({ a: 'x'.repeat(100) });
    expect(parseObject(Buffer.from(text), 100)).toBeUndefined();
    expect(parseObject(Buffer.from(text), 200)).toEqual({ a: 'x'.repeat(100) });
  });
});

describe('what a contender says of itself', () => {
  const client = { clientId: 'c', host: 'h', pid: 7 };

  it.each(LOCK_MODES)('comes back as it was said, as %s', (mode) => {
    const label = 'Größe "7"';
    const facts = { owner: 'o', mode, label, template: '/"a"/:id', leaseMs: undefined, lockDelayMs: 250, holdMs: 40 };
    const before = Date.now();
    const { askedAt, ...said } = decodeContender(Buffer.from(encodeContender(client, facts))) ?? {};
    expect(said).toEqual({ ...client, ...facts });
    expect(askedAt).toBeInstanceOf(Date);
    expect(askedAt?.getTime()).toBeGreaterThanOrEqual(before);
    expect(askedAt?.getTime()).toBeLessThanOrEqual(Date.now());
  });

  it.each(['', 'null', '42', '"text"', '[]', '{', '{}', '{"clientId":1,"owner":2}', '10.0.0.7'])(
    'is not read into the data of others: %j',
    (text) => {
      expect(decodeContender(Buffer.from(text))).toBeUndefined();
    },
  );

  it('is read from a view into a larger buffer', () => {
    const bytes = Buffer.from('xx{"a":1}yy');
    expect(parseObject(bytes.subarray(2, 9))).toEqual({ a: 1 });
  });
});
