import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { Heap } from '../../../lib/lock/heap.js';

function drained(heap: Heap<number>): number[] {
  const items: number[] = [];
  for (let item = heap.first; item !== undefined; item = heap.first) {
    items.push(item);
    heap.shift();
  }
  return items;
}

describe('A heap', () => {
  it('has nothing to give when it is empty', () => {
    const heap = new Heap<number>((one, other) => one < other);
    heap.shift();
    expect([heap.first, heap.size]).toEqual([undefined, 0]);
  });

  it('gives back in order whatever was put in, in any order', () => {
    fc.assert(
      fc.property(fc.array(fc.integer()), (items) => {
        const heap = new Heap<number>((one, other) => one < other);
        for (const item of items) heap.push(item);
        expect(heap.size).toBe(items.length);
        expect(drained(heap)).toEqual([...items].sort((one, other) => one - other));
      }),
    );
  });

  it('gives back in order what it was told to keep, and what came after', () => {
    fc.assert(
      fc.property(fc.array(fc.nat(100)), fc.array(fc.nat(100)), (items, later) => {
        const heap = new Heap<number>((one, other) => one > other);
        const isEven = (item: number): boolean => item % 2 === 0;
        for (const item of items) heap.push(item);
        heap.keep(isEven);
        for (const item of later) heap.push(item);
        expect(drained(heap)).toEqual([...items.filter(isEven), ...later].sort((one, other) => other - one));
      }),
    );
  });
});
