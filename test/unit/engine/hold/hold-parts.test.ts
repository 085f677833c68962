import { describe, expect, it } from '@jest/globals';
import { HoldHistory } from '../../../../lib/engine/hold/hold-parts.js';

describe('the history of holds', () => {
  it('knows nothing at first, the last hold after one, and leans to the newest', () => {
    const history = new HoldHistory();
    expect(history.averageMs('/a')).toBeUndefined();
    history.record('/a', 100);
    expect(history.averageMs('/a')).toBe(100);
    history.record('/a', 200);
    expect(history.averageMs('/a')).toBe(130);
  });

  it('remembers the thousand keys used last', () => {
    const history = new HoldHistory();
    for (let index = 0; index < 1_000; index += 1) history.record(`/${index}`, 1);
    history.record('/0', 1);
    history.record('/new', 1);
    expect(['/0', '/1', '/2', '/new'].map((key) => history.averageMs(key))).toEqual([1, undefined, 1, 1]);
  });
});
