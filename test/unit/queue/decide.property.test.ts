import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { LockMode } from '../../../lib/lock/mode.js';
import { blocks, decide } from '../../../lib/queue/decide.js';
import { anyQueue, type Contender, ours } from './names.js';

/** What may be inside at one time, said without the words of the code: readers, and one other if it is upgradeable. */
function mayBeInsideTogether(modes: readonly LockMode[]): boolean {
  const notReaders = modes.filter((mode) => mode !== 'read');
  if (notReaders.length === 0) return true;
  return notReaders.length === 1 && (notReaders[0] === 'upgradeable' || modes.length === 1);
}

function holders(contenders: readonly Contender[], children: readonly string[]): Contender[] {
  return contenders.filter(({ name }) => decide(children, name).kind === 'hold');
}

describe('for any set of contenders and modes,', () => {
  it('there are never two incompatible holders, and always somebody who holds', () => {
    fc.assert(
      fc.property(anyQueue(), ({ contenders, children }) => {
        const inside = holders(contenders, children);
        expect(mayBeInsideTogether(inside.map(({ mode }) => mode))).toBe(true);
        expect(inside.length > 0).toBe(contenders.length > 0);
      }),
      { numRuns: 1_000 },
    );
  });

  it('everybody else watches the nearest one ahead that blocks it', () => {
    fc.assert(
      fc.property(anyQueue(), ({ contenders, children }) => {
        contenders.forEach((own, place) => {
          const decision = decide(children, own.name);
          const nearest = contenders.slice(0, place).findLast((ahead) => blocks(ahead.mode, own.mode));
          if (nearest === undefined) expect(decision.kind).toBe('hold');
          else expect(decision).toMatchObject({ kind: 'wait', watch: { name: nearest.name } });
        });
      }),
      { numRuns: 1_000 },
    );
  });

  it('onlyOneAhead is said to exclusive and write contenders with exactly one queue node ahead', () => {
    fc.assert(
      fc.property(anyQueue(5), ({ contenders, children }) => {
        contenders.forEach((own, place) => {
          const decision = decide(children, own.name);
          if (decision.kind !== 'wait') return;
          expect(decision.onlyOneAhead).toBe(place === 1 && (own.mode === 'exclusive' || own.mode === 'write'));
        });
      }),
      { numRuns: 1_000 },
    );
  });

  it('who comes later changes nothing for those who are there', () => {
    fc.assert(
      fc.property(
        anyQueue(),
        fc.constantFrom<LockMode>('exclusive', 'read', 'write', 'upgradeable'),
        ({ contenders, children }, mode) => {
          const last = contenders.at(-1)?.sequence ?? 0;
          const more = [...children, ours(mode, last + 1)];
          for (const { name } of contenders) expect(decide(more, name)).toEqual(decide(children, name));
        },
      ),
    );
  });

  it('the queue drains in order of arrival: writers in turn, woken by the one they watched, and nobody is left', () => {
    fc.assert(
      fc.property(anyQueue(), fc.infiniteStream(fc.nat()), ({ contenders, children }, chance) => {
        let left = [...children];
        let waiting = [...contenders];
        const entered: Contender[] = [];
        while (waiting.length > 0) {
          const inside = holders(waiting, left);
          expect(inside.length).toBeGreaterThan(0);
          for (const holder of inside) if (!entered.includes(holder)) entered.push(holder);
          const leaving = inside[(chance.next().value ?? 0) % inside.length]!;
          const watchedIt = waiting.filter(({ name }) => {
            const decision = decide(left, name);
            return decision.kind === 'wait' && decision.watch.name === leaving.name;
          });
          const before = holders(waiting, left);
          left = left.filter((name) => name !== leaving.name);
          waiting = waiting.filter((one) => one !== leaving);
          // Nobody enters without having been told.
          for (const { name } of holders(waiting, left)) {
            if (before.some((one) => one.name === name)) continue;
            expect(watchedIt.map((one) => one.name)).toContain(name);
          }
        }
        const alone = entered.filter(({ mode }) => mode !== 'read').map(({ sequence }) => sequence);
        expect(alone).toEqual([...alone].sort((one, other) => one - other));
        expect(entered).toHaveLength(contenders.length);
        // A reader is overtaken by no writer, and overtakes none.
        entered.forEach((one, at) => {
          for (const later of entered.slice(at + 1)) {
            if (later.sequence < one.sequence) expect(blocks(later.mode, one.mode)).toBe(false);
          }
        });
      }),
      { numRuns: 500 },
    );
  });
});
