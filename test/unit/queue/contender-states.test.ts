import { describe, expect, it } from '@jest/globals';
import { contenderStates, type Found, isMoving } from '../../../lib/queue/contender-states.js';
import { encodeIntent } from '../../../lib/queue/intent-data.js';
import { idOf, nodeOf, ours } from './names.js';

const UPGRADEABLE = ours('upgradeable', 1);
const READER = ours('read', 2);
/** The second node of the upgrader, which has the id of the first one in its name. */
const INTENT = ours('write', 3, idOf(1));

function statesOf(names: readonly string[], found: Found = new Map()): string[] {
  return [...contenderStates(names.map(nodeOf), found).values()];
}

function intentWith(data: Uint8Array): Found {
  return new Map([[INTENT, { data }]]);
}

describe('The state of a contender', () => {
  it('is that it holds where no mode ahead blocks its own, and waits otherwise', () => {
    expect(statesOf([ours('read', 1), ours('read', 2), ours('write', 3), ours('read', 4)])).toEqual([
      'holds',
      'holds',
      'waits',
      'waits',
    ]);
    expect(statesOf([ours('exclusive', 1), ours('upgradeable', 2)])).toEqual(['holds', 'waits']);
  });

  it.each([
    ['holds where the intent behind it names it', encodeIntent([READER]), 'holds'],
    ['waits where the intent names others only', encodeIntent([ours('read', 9)]), 'waits'],
    ['is still to be named where the intent has no names yet', new Uint8Array(), 'unnamed'],
  ])('says of a reader between an upgrader and its intent that it %s', (_what, data, expected) => {
    expect(statesOf([UPGRADEABLE, READER, INTENT], intentWith(data))).toEqual(['holds', expected, 'intent']);
  });

  it('shows that a queue is moving where a holder has left, or a reader is still to be named', () => {
    const queue = [UPGRADEABLE, READER, INTENT].map(nodeOf);

    expect(isMoving(queue, intentWith(encodeIntent([READER])))).toBe(false);
    expect(isMoving(queue, intentWith(new Uint8Array()))).toBe(true);
    expect(isMoving(queue, new Map([[UPGRADEABLE, 'left']]))).toBe(true);
    expect(isMoving(queue, new Map([[INTENT, 'left']]))).toBe(false);
  });
});
