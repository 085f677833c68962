import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { namePrefix, NUMBERED_AFTER, parseNodeName } from '../../../lib/queue/node-name.js';
import { LOCK_MODES } from '../../../lib/lock/mode.js';
import { isNumberedAfter } from '../../../lib/session/numbered-names.js';
import { idOf } from '../queue/names.js';

const beginning = fc.oneof(
  fc.constantFrom(...LOCK_MODES.map((mode) => namePrefix(mode, idOf(7))), 'lock-', 'x__lock__', 'x__rlock__', '-', '_'),
  fc.string({ unit: 'grapheme', maxLength: 12 }),
);
const ending = fc.oneof(
  fc.integer({ min: -(2 ** 31), max: 2 ** 31 - 1 }).map((number) => String(number).padStart(10, '0')),
  fc.string({ unit: fc.constantFrom('0', '9', '-', '_', 'ä'), maxLength: 13 }),
);
const name = fc.tuple(beginning, ending).map((parts) => parts.join(''));

describe('a name that is wanted of a queue', () => {
  it('is every name of a contender', () => {
    fc.assert(
      fc.property(name, (text) => {
        if (parseNodeName(text) !== undefined)
          expect([text, isNumberedAfter(NUMBERED_AFTER, text)]).toEqual([text, true]);
      }),
      { numRuns: 5_000 },
    );
  });

  it('is told by its text as by its bytes, wherever these stand', () => {
    fc.assert(
      fc.property(name, fc.uint8Array({ maxLength: 20 }), fc.uint8Array({ maxLength: 20 }), (text, before, behind) => {
        const bytes = Buffer.from(text);
        const all = Buffer.concat([before, bytes, behind]);
        const told = isNumberedAfter(NUMBERED_AFTER, all, before.length, before.length + bytes.length);
        expect([text, told]).toEqual([text, isNumberedAfter(NUMBERED_AFTER, text)]);
      }),
      { numRuns: 5_000 },
    );
  });
});
