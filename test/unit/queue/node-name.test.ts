import { randomUUID } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { LOCK_MODES } from '../../../lib/lock/mode.js';
import {
  contenderId,
  isSpent,
  namePrefix,
  ownNode,
  parseNodeName,
  recordUserId,
} from '../../../lib/queue/node-name.js';
import { idOf, ours } from './names.js';

const CURATOR_ID = 'a1b2c3d4-e5f6-4a7b-8c9d-0e1f2a3b4c5d';
const KAZOO_ID = 'f3b0c6a2d1e94c7e8a5b6c7d8e9f0a1b';

describe('Among the names in a queue,', () => {
  it.each([
    ['Curator InterProcessMutex', `_c_${CURATOR_ID}-lock-0000000007`, 'exclusive', 7, CURATOR_ID],
    ['Curator InterProcessReadWriteLock, writing', `_c_${CURATOR_ID}-__WRIT__0000000010`, 'write', 10, CURATOR_ID],
    ['Curator InterProcessReadWriteLock, reading', `_c_${CURATOR_ID}-__READ__0000000009`, 'read', 9, CURATOR_ID],
    ['kazoo Lock and WriteLock', `${KAZOO_ID}__lock__0000000003`, 'exclusive', 3, undefined],
    ['kazoo ReadLock', `${KAZOO_ID}__rlock__0000000004`, 'read', 4, undefined],
    ['zkCli, create -e -s /locks/x/lock-', 'lock-0000000000', 'exclusive', 0, undefined],
    ['a recipe with a name of its own', 'my-lock-2147483646', 'exclusive', 2_147_483_646, undefined],
  ] as const)('the name of %s is understood: %s', (_client, name, mode, sequence, id) => {
    expect(parseNodeName(name)).toEqual({ name, mode, sequence, id, ours: false, usesRecord: false });
  });

  it.each(LOCK_MODES)('ours in mode %s is found again with its id, and told from those of other clients', (mode) => {
    const id = contenderId(randomUUID());
    const name = `${namePrefix(mode, id)}0000000012`;
    expect(parseNodeName(name)).toEqual({ name, mode, sequence: 12, id, ours: true, usesRecord: false });
  });

  it('an upgradeable contender is a reader for Curator, which looks at the end of the name', () => {
    expect(ours('upgradeable', 1)).toMatch(/__READ__\d{10}$/);
    expect(parseNodeName(`${KAZOO_ID}upgr-__READ__0000000001`)?.mode).toBe('read');
  });

  it('those of an upgrader and its intent share an id', () => {
    const id = idOf(1);
    expect(parseNodeName(ours('write', 9, id))?.id).toBe(parseNodeName(ours('upgradeable', 1, id))?.id);
  });

  it.each([
    ['a nested key', 'orders'],
    ['a nested key that is a number', '42'],
    ['a nested key of ten digits', '0000000001'],
    ['a sequential node of another recipe', 'config-0000000001'],
    ['a lock name without a number', 'lock-'],
    ['too few digits', 'lock-000000001'],
    ['something behind the number', 'lock-0000000001.bak'],
    ['digits that are none to ZooKeeper', 'lock-٠٠٠٠٠٠٠٠٠١'],
    ['nothing', ''],
  ])('%s is that of no queue node: %s', (_what, name) => {
    expect(parseNodeName(name)).toBeUndefined();
  });

  it('any text that names no recipe is ignored, whatever number stands behind it', () => {
    const text = fc
      .string({ maxLength: 20 })
      .filter((one) => !/lock-$|__(?:READ|WRIT|lock|rlock)__$|lock--$|__-$/.test(one));
    fc.assert(fc.property(text, (one) => parseNodeName(`${one}0000000001`) === undefined));
  });

  it.each([
    ['lock--000000001', -1],
    ['lock--999999999', -999_999_999],
    ['lock--1000000000', -1_000_000_000],
    ['lock--2147483648', -2_147_483_648],
    [`${KAZOO_ID}__lock__-000000042`, -42],
    [`_c_${CURATOR_ID}-__READ__-2147483647`, -2_147_483_647],
  ])('%s carries the number a counter has past its ceiling', (name, sequence) => {
    expect(parseNodeName(name)?.sequence).toBe(sequence);
  });

  it('an own node is taken for what it was made of, with the number that a server gave it, also past the ceiling', () => {
    const numbers = fc.oneof(
      fc.integer({ min: 0 }),
      fc.integer({ max: -1 }),
      fc.constantFrom(-2_147_483_648, -123_456_789),
    );
    fc.assert(
      fc.property(
        fc.uuid({ version: 4 }),
        fc.constantFrom(...LOCK_MODES),
        fc.boolean(),
        numbers,
        (random, mode, uses, number) => {
          const id = uses ? recordUserId(contenderId(random)) : contenderId(random);
          // As Java formats it: ten characters at the least, the minus among them.
          const digits = number < 0 ? `-${String(-number).padStart(9, '0')}` : String(number).padStart(10, '0');
          const name = namePrefix(mode, id) + digits;
          expect(ownNode(name, mode, id, uses)).toEqual(parseNodeName(name));
          expect(ownNode(name, mode, id, uses).sequence).toBe(number);
        },
      ),
    );
  });

  it('a counter at its ceiling or past it is spent, one below is not', () => {
    expect([-2_147_483_648, -1, 2_147_483_647].map(isSpent)).toEqual([true, true, true]);
    expect([0, 1, 2_147_483_646].map(isSpent)).toEqual([false, false, false]);
  });

  it('our ids are UUIDs of version 8 that say by their variant whether the record is used; all other digits are left alone', () => {
    fc.assert(
      fc.property(fc.uuid({ version: 4 }), (random) => {
        const id = contenderId(random);
        expect(id).toBe(`${random.slice(0, 14)}8${random.slice(15, 19)}8${random.slice(20)}`);
        expect(recordUserId(id)).toBe(`${random.slice(0, 14)}8${random.slice(15, 19)}b${random.slice(20)}`);
        for (const one of [id, recordUserId(id)])
          expect(parseNodeName(`${namePrefix('read', one)}0000000012`)).toMatchObject({
            id: one,
            ours: true,
            usesRecord: one !== id,
          });
      }),
    );
  });
});
