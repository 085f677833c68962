import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { QueueNumbers } from '../../../../lib/engine/acquire/queue-member.js';
import { LOCK_MODES } from '../../../../lib/lock/mode.js';
import { blocks } from '../../../../lib/queue/decide.js';
import type { QueueNode } from '../../../../lib/queue/node-name.js';

const node = fc
  .record({ sequence: fc.nat(30), mode: fc.constantFrom(...LOCK_MODES) })
  .map(({ sequence, mode }): QueueNode => {
    const name = `${mode}-${sequence}`;
    return { name, sequence, mode, id: undefined, ours: true, usesRecord: false };
  });
const queue = fc.array(node, { maxLength: 30 });

/** The same in so many words: those with a smaller number, each once, if one of them is in the way. */
function aheadOf(own: QueueNode, nodes: readonly QueueNode[]): number {
  const ahead = nodes.filter(({ sequence }) => sequence < own.sequence);
  if (!ahead.some(({ mode }) => blocks(mode, own.mode))) return 0;
  return new Set(ahead.map(({ name }) => name)).size;
}

describe('The numbers of a queue', () => {
  it('count those ahead of a node, each once, and none where nobody is in its way', () => {
    fc.assert(
      fc.property(queue, node, (nodes, own) => {
        expect(new QueueNumbers(nodes).countAhead(own)).toBe(aheadOf(own, nodes));
      }),
    );
  });

  it('count newcomers that stand behind all others, and take no others', () => {
    fc.assert(
      fc.property(queue, queue, node, (nodes, newcomers, own) => {
        const numbers = new QueueNumbers(nodes);
        const all = [...nodes];
        for (const newcomer of newcomers) {
          const isLast = all.every(({ sequence }) => sequence < newcomer.sequence);
          expect(numbers.append(newcomer)).toBe(isLast);
          if (isLast) all.push(newcomer);
        }
        expect(numbers.countAhead(own)).toBe(aheadOf(own, all));
      }),
    );
  });
});
