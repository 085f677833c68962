import fc from 'fast-check';
import { contenderId, namePrefix, parseNodeName, type QueueNode } from '../../../lib/queue/node-name.js';
import { LOCK_MODES, type LockMode } from '../../../lib/lock/mode.js';

/** An id as the product makes it, a different one for each number. */
export function idOf(number: number): string {
  return contenderId(`00000000-0000-4000-8000-${String(number).padStart(12, '0')}`);
}

/** A contender of ours with this place in the queue. */
export function ours(mode: LockMode, sequence: number, id = idOf(sequence)): string {
  return namePrefix(mode, id) + String(sequence).padStart(10, '0');
}

const read = new Map<string, QueueNode>();

/** What the name of a queue node says. A model asks for the same few names millions of times, so each is read once. */
export function nodeOf(name: string): QueueNode {
  const known = read.get(name);
  if (known !== undefined) return known;
  const node = parseNodeName(name);
  if (node === undefined) throw new Error(`No node of a queue has the name ${name}.`);
  read.set(name, node);
  return node;
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
