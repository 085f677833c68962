import fc from 'fast-check';
import { contenderId, namePrefix } from '../../../lib/queue/node-name.js';
import { LOCK_MODES, type LockMode } from '../../../lib/lock/mode.js';

/** An id as the product makes it, a different one for each number. */
export function idOf(number: number): string {
  return contenderId(`00000000-0000-4000-8000-${String(number).padStart(12, '0')}`);
}

/** A contender of ours with this place in the queue. */
export function ours(mode: LockMode, sequence: number, id = idOf(sequence)): string {
  return namePrefix(mode, id) + String(sequence).padStart(10, '0');
}

export interface Contender {
  readonly name: string;
  readonly mode: LockMode;
  readonly sequence: number;
}

/** Any queue without upgrades in progress, its nodes in any order, with litter between them. */
export function anyQueue(maxLength = 12): fc.Arbitrary<{ contenders: Contender[]; children: string[] }> {
  const litter = fc.array(fc.constantFrom('42', 'orders', '.sessions', 'lock-', 'lock-123', 'config-0000000001'), {
    maxLength: 3,
  });
  return fc
    .record({
      modes: fc.array(fc.constantFrom(...LOCK_MODES), { maxLength }),
      // Sequences with gaps, across the places where text would sort otherwise.
      first: fc.constantFrom(0, 8, 98, 999_999_995, 2_147_483_600),
      gaps: fc.array(fc.integer({ min: 1, max: 3 }), { minLength: maxLength, maxLength }),
      litter,
      shuffle: fc.array(fc.nat(), { minLength: maxLength + 3, maxLength: maxLength + 3 }),
    })
    .map(({ modes, first, gaps, litter: extra, shuffle }) => {
      let sequence = first;
      const contenders = modes.map((mode, index) => {
        sequence += gaps[index] ?? 1;
        return { name: ours(mode, sequence), mode, sequence };
      });
      const keyed = [...contenders.map(({ name }) => name), ...new Set(extra)].map((name, index) => ({
        name,
        at: shuffle[index] ?? 0,
      }));
      return { contenders, children: keyed.sort((left, right) => left.at - right.at).map(({ name }) => name) };
    });
}
