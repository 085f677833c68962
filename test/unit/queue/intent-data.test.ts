import { describe, expect, it } from '@jest/globals';
import { encodeIntent, namesReader } from '../../../lib/queue/intent-data.js';
import { ours } from './names.js';

describe("an upgrade's intent", () => {
  it('names as many readers as a node can hold', () => {
    const names = Array.from({ length: 16_000 }, (_, index) => ours('read', index));
    const data = encodeIntent(names);
    expect(data.length).toBeGreaterThan(900_000);
    expect(namesReader(data, names.at(-1)!)).toBe(true);
  });

  it('names the readers that are inside, and no others', () => {
    const data = encodeIntent([ours('read', 1), ours('read', 2)]);
    expect([1, 2, 3].map((sequence) => namesReader(data, ours('read', sequence)))).toEqual([true, true, false]);
  });

  it.each(['', '{}', '{"readers":"_c_"}', 'null'])(
    'names nobody if it was not written yet, or by somebody else: %j',
    (text) => {
      expect(namesReader(Buffer.from(text), ours('read', 1))).toBe(false);
    },
  );
});
