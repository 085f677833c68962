import { expect, it } from '@jest/globals';
import { Identifiers } from '../../../../lib/engine/bounds/identifiers.js';
import { namePrefix, parseNodeName } from '../../../../lib/queue/node-name.js';

it('identifiers of one service are UUIDs that differ, and those of another differ from them', () => {
  const one = new Identifiers('0e4d05c1-0e1f-4a3e-93ee-8a9c5f6e1d2b');
  const other = new Identifiers('7b21c9aa-31c4-4f0e-8d1b-0c9c5f6e1d2b');
  const ids = Array.from({ length: 1_000 }, () => [one.next(), other.next()]).flat();
  expect(new Set(ids).size).toBe(2_000);
  for (const id of ids) expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
});

it('a node that is named with one is known as ours, with its id', () => {
  const id = new Identifiers('0e4d05c1-0e1f-4a3e-93ee-8a9c5f6e1d2b').next();
  expect(parseNodeName(`${namePrefix('write', id)}0000000007`)).toMatchObject({ id, ours: true, mode: 'write' });
});
