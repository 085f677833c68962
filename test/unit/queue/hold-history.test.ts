import { describe, expect, it } from '@jest/globals';
import {
  decodeHistory,
  encodeHistory,
  historyPath,
  type KeptHold,
  MAX_HISTORY_BYTES,
  withHolds,
} from '../../../lib/queue/hold-history.js';

const hold = (key: string, token: number, more: Partial<KeptHold> = {}): KeptHold => ({
  key,
  token: BigInt(token),
  mode: 'exclusive',
  label: 'settle',
  host: 'web-1',
  pid: 7,
  since: new Date(1_700_000_000_000),
  waitedMs: 5,
  heldMs: 10,
  ended: 'released',
  ...more,
});
const history = (...holds: KeptHold[]) => ({ holds, dropped: 0 });
const tokensOf = (kept: { readonly holds: readonly KeptHold[] }) =>
  kept.holds.map(({ key, token }) => `${key} ${token}`);

describe('The past holds in a node', () => {
  it('come back as they were written', () => {
    const kept = {
      holds: [hold('/a', 1), hold('/größe "x"', 2, { ended: 'broken', mode: 'read', label: undefined })],
      dropped: 3,
    };
    expect(decodeHistory(encodeHistory(kept))).toEqual(kept);
  });

  it.each([
    ...['', 'null', '[]', '{"holds":7}', '{"holds":[null,1,"x",[],{}]}', '{"dropped":-1}', '{"dropped":1e999}'],
    '{"holds":[{"key":"/a","token":"x","mode":"read","ended":"released","since":1,"waitedMs":1,"heldMs":1}]}',
    '{"holds":[{"key":"/a","token":"1","mode":"read","ended":"released","since":1e300,"waitedMs":1,"heldMs":1}]}',
    '{"holds":[{"key":{"toString":1},"token":"1","mode":"read","ended":"released","since":1,"waitedMs":1,"heldMs":1}]}',
    '{"holds":[{"key":"/a","token":"1","mode":"read","ended":"melted","since":1,"waitedMs":1,"heldMs":1}]}',
  ])('are not read out of what somebody else has written: %j', (data) => {
    expect(decodeHistory(Buffer.from(data))).toEqual({ holds: [], dropped: 0 });
  });

  it('are the last ones of each key, and those of keys that got none stay as they are', () => {
    const known = history(hold('/a', 1), hold('/b', 2), hold('/b', 3), hold('/a', 4));
    const kept = withHolds(known, history(hold('/a', 5)), 2);
    expect(tokensOf(kept)).toEqual(['/b 2', '/b 3', '/a 4', '/a 5']);
    expect(tokensOf(withHolds(kept, history(hold('/b', 6)), 1))).toEqual(['/a 4', '/a 5', '/b 6']);
  });

  it('are there once, also when they were written twice', () => {
    const known = history(hold('/a', 1), hold('/a', 2));
    expect(tokensOf(withHolds(known, history(hold('/a', 2), hold('/a', 3)), 5))).toEqual(['/a 1', '/a 2', '/a 3']);
    // The locks of one transaction may share a number in another ensemble's life; the key tells them apart.
    expect(withHolds(known, history(hold('/b', 2)), 5).holds).toHaveLength(3);
  });

  it('count what was dropped', () => {
    expect(withHolds({ holds: [], dropped: 2 }, { holds: [], dropped: 3 }, 5).dropped).toBe(5);
  });

  it('never take more than a node may have: the oldest go first', () => {
    const label = '"'.repeat(200);
    const many = Array.from({ length: 500 }, (_, index) => hold(`/${index % 100}`, index, { label }));
    const kept = withHolds({ holds: [], dropped: Number.MAX_SAFE_INTEGER }, history(...many), 100);
    const bytes = encodeHistory(kept).length;
    expect(bytes).toBeLessThanOrEqual(MAX_HISTORY_BYTES);
    expect(bytes).toBeGreaterThan(0.9 * MAX_HISTORY_BYTES);
    expect(kept.holds.at(-1)!.token).toBe(499n);
    const longest = hold(`/${'鍵'.repeat(4_095)}`, 1, { label });
    expect(withHolds(history(...many), history(longest), 100).holds).toContain(longest);
  });

  it('lie in a fixed number of nodes, all about equally full', () => {
    const counts = new Map<string, number>();
    for (let index = 0; index < 100_000; index += 1) {
      const path = historyPath('/app', `/locks/orders/${index}`);
      counts.set(path, (counts.get(path) ?? 0) + 1);
    }
    expect(counts.size).toBe(128);
    expect([...counts.keys()].every((path) => /^\/app\/~history\/[0-9a-f]{2}$/.test(path))).toBe(true);
    expect(Math.max(...counts.values())).toBeLessThan(1.5 * (100_000 / 128));
    expect(historyPath('', '/a')).toMatch(/^\/~history\//);
  });
});
