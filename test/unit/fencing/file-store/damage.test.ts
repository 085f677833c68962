import { open, readFile, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { FencedFileStore } from '../../../../lib/fencing/file-store/fenced-file-store.js';
import { Journal } from '../../../../lib/fencing/file-store/journal.js';
import { Room } from '../../../../lib/fencing/file-store/disk.js';
import { detailsOf, LockConfigurationError, StaleFencingTokenError } from '../../../../lib/lock/errors.js';
import { telling } from '../../../support/telling.js';
import { temporaryRoot } from './support/temporary-root.js';

/** What the journal of the file `a` was after each change. */
async function journalAfter(
  root: string,
  changes: readonly ((store: FencedFileStore) => Promise<void>)[],
): Promise<{ path: string; bytes: Buffer; lengths: number[] }> {
  const path = join(root, 'a', 'journal.0');
  const lengths: number[] = [];
  await using store = await FencedFileStore.open({ root });
  for (const change of changes) {
    await change(store);
    lengths.push((await readFile(path)).length);
  }
  return { path, bytes: await readFile(path), lengths };
}

/** All that a store without a memory of the file finds out. */
async function stateOf(root: string): Promise<{ content: string | undefined; mark: bigint | undefined }> {
  await using store = await FencedFileStore.open({ root });
  return { content: (await store.read('a'))?.content.toString(), mark: await store.highestToken('a') };
}

const threeChanges = [
  (store: FencedFileStore) => store.write('a', 'one!\n', 5n),
  (store: FencedFileStore) => store.claim('a', 9n),
  (store: FencedFileStore) => store.append('a', 'two;\n', 9n),
];

describe('a journal in which something is damaged that was acknowledged', () => {
  it('is refused with any bit of it turned over, as long as a whole record is behind it', async () => {
    const root = temporaryRoot();
    const { path, bytes, lengths } = await journalAfter(root, threeChanges);
    const file = await open(path, 'r+');
    const missed: string[] = [];
    for (let at = 0; at < lengths[1]!; at += 1) {
      for (let bit = 0; bit < 8; bit += 1) {
        await file.write(Uint8Array.of(bytes[at]! ^ (1 << bit)), 0, 1, at);
        const reader = await Journal.open(path, 0, new Room(root));
        const error: unknown = await reader.catchUp().catch((reason: unknown) => reason);
        await reader.close();
        if (!(error instanceof LockConfigurationError)) missed.push(`bit ${bit} of byte ${at}`);
      }
      await file.write(bytes, at, 1, at);
    }
    await file.close();
    expect(missed).toEqual([]);
    expect(await stateOf(root)).toEqual({ content: 'one!\ntwo;\n', mark: 9n });
  });

  it('takes no stale token, and tells what is damaged and what to do', async () => {
    const root = temporaryRoot();
    const { path, bytes, lengths } = await journalAfter(root, [
      (store) => store.write('a', 'old', 5n),
      (store) => store.claim('a', 9n),
      (store) => store.claim('a', 10n),
    ]);
    bytes[bytes.indexOf('claim', lengths[0])]! ^= 1;
    await writeFile(path, bytes);

    await using store = await FencedFileStore.open({ root });
    const refusals = [
      store.write('a', 'stale', 6n),
      store.read('a'),
      store.highestToken('a'),
      store.update('a', 11n, () => 'new'),
    ];
    for (const refused of await Promise.allSettled(refusals)) {
      expect(refused).toMatchObject({ status: 'rejected', reason: { code: 'LOCK_CONFIGURATION' } });
      expect(detailsOf((refused as PromiseRejectedResult).reason)).toMatch(
        /journal\.0 is damaged between byte \d+ and byte \d+: whole records follow \(at byte \d+\).* Stop all writers/,
      );
    }
    expect(await readFile(path)).toEqual(bytes);
  });

  it.each([true, false])(
    'may be what a power failure leaves of two records that were not synced (the second writer had read the first: %p)',
    async (hasRead) => {
      const root = temporaryRoot();
      const { path, lengths } = await journalAfter(root, [(store) => store.write('a', 'synced', 5n)]);
      const [first, second] = [
        await Journal.open(path, 0, new Room(root)),
        await Journal.open(path, 0, new Room(root)),
      ];
      await first.catchUp();
      if (!hasRead) await second.catchUp();
      await first.append({ kind: 'append', token: 6n, payload: Buffer.from(' lost') });
      if (hasRead) await second.catchUp();
      await second.append({ kind: 'append', token: 6n, payload: Buffer.from(' kept') });
      await first.close();
      await second.close();
      // The blocks of the first were never written, those of the second were.
      const bytes = await readFile(path);
      const beginsAt = lengths[0]!;
      bytes.fill(0, beginsAt, bytes.indexOf('!', beginsAt + 2));
      await writeFile(path, bytes);

      await expect(stateOf(root)).rejects.toThrow(telling(`is damaged between byte ${hasRead ? 0 : beginsAt} and`));
      await truncate(path, beginsAt);
      expect(await stateOf(root)).toEqual({ content: 'synced', mark: 5n });
    },
  );

  it('is told of to onDamage, at each call that is refused for it and at no other, whatever becomes of that', async () => {
    const root = temporaryRoot();
    const { path, bytes, lengths } = await journalAfter(root, threeChanges);
    bytes[lengths[0]! + 3]! ^= 1;
    await writeFile(path, bytes);
    const told: unknown[] = [];
    const onDamage = (error: LockConfigurationError): void => {
      told.push(error);
      throw new Error('of the one who was told');
    };
    await using store = await FencedFileStore.open({ root, onDamage });
    await store.write('b', 'sound', 5n);
    await expect(store.write('b', 'stale', 4n)).rejects.toThrow(StaleFencingTokenError);
    await expect(store.write('b', Buffer.alloc(16 * 1024 * 1024 + 1), 5n)).rejects.toThrow(LockConfigurationError);
    expect(told).toEqual([]);

    for (const refused of [store.read('a'), store.claim('a', 10n)]) {
      const error: unknown = await refused.catch((reason: unknown) => reason);
      expect(error).toEqual(telling(`${path} is damaged between byte`));
      expect(told.splice(0)).toEqual([error]);
    }
  });

  it('is found by the next writer, where the record behind it was made by one who had not read it', async () => {
    const root = temporaryRoot();
    await using store = await FencedFileStore.open({ root });
    await store.write('a', 'x', 5n);
    const path = join(root, 'a', 'journal.0');
    const [one, another] = [await Journal.open(path, 0, new Room(root)), await Journal.open(path, 0, new Room(root))];
    for (const journal of [one, another]) await journal.catchUp();
    const start = one.size;
    await one.append({ kind: 'claim', token: 9n, payload: new Uint8Array() });
    await another.append({ kind: 'claim', token: 9n, payload: new Uint8Array() });
    await one.close();
    await another.close();
    const bytes = await readFile(path);
    bytes[bytes.indexOf('claim', start)]! ^= 1;
    await writeFile(path, bytes);

    await using newcomer = await FencedFileStore.open({ root });
    await expect(newcomer.write('a', 'stale', 6n)).rejects.toThrow(telling('is damaged between byte'));
  });

  it('is found by the number of its records, where what is left of one looks like one that was cut off', async () => {
    const root = temporaryRoot();
    const { path, bytes, lengths } = await journalAfter(root, [
      (store) => store.write('a', 'x'.repeat(1_000), 5n),
      (store) => store.claim('a', 9n),
    ]);
    // A block of zeros that ends where the next record begins: content may be zeros.
    bytes.fill(0, lengths[0]! - 512, lengths[0]);
    await writeFile(path, bytes);

    await expect(stateOf(root)).rejects.toThrow(telling(`is damaged between byte 0 and byte ${lengths[0]}`));
  });

  it('is noticed by who has read it whole, when somebody who has not goes on behind it', async () => {
    const root = temporaryRoot();
    const { path, bytes } = await journalAfter(root, threeChanges.slice(0, 2));
    await using witness = await FencedFileStore.open({ root });
    expect(await witness.highestToken('a')).toBe(9n);
    bytes[bytes.length - 3]! ^= 1;
    await writeFile(path, bytes);
    await using newcomer = await FencedFileStore.open({ root });
    await newcomer.append('a', 'behind', 6n);

    await expect(witness.read('a')).rejects.toThrow(telling('is damaged'));
    // Nor does it forget what it has told of, and believe what is left.
    await expect(witness.write('a', 'stale', 7n)).rejects.toThrow(telling('this process has read 9 there'));
    await expect(witness.highestToken('a')).rejects.toThrow(telling('this process has read 9 there'));
    expect(await stateOf(root)).toEqual({ content: 'one!\nbehind', mark: 6n });
  });

  it('has lost its last record at most, where nothing is behind that', async () => {
    const root = temporaryRoot();
    const { path, bytes, lengths } = await journalAfter(root, threeChanges);
    const start = bytes.indexOf('append', lengths[1]);
    for (let at = start; at < bytes.length; at += 7) {
      const damaged = Buffer.from(bytes);
      damaged[at]! ^= 4;
      await writeFile(path, damaged);
      const state = await stateOf(root);
      expect([
        { content: 'one!\n', mark: 9n },
        { content: 'one!\ntwo;\n', mark: 9n },
      ]).toContainEqual(state);
    }
  });
});

describe('a journal that ends in what no record is', () => {
  const tails: [string, Buffer][] = [
    ['zeros of a block that was never written', Buffer.alloc(700)],
    ['a record whose middle was never written', Buffer.from('!\n12 claim 1234 * 77 2\0\0\0\0\0\0 12345678 ;\n')],
    ['garbage with lines', Buffer.from('one\ntwo;\n\n!!\n!three')],
    ['bytes like those of a record', Buffer.from(';\n')],
  ];

  it.each(tails)('goes on behind it: %s', async (_, tail) => {
    const root = temporaryRoot();
    const { path } = await journalAfter(root, threeChanges);
    await writeFile(path, tail, { flag: 'a' });
    expect(await stateOf(root)).toEqual({ content: 'one!\ntwo;\n', mark: 9n });

    await using store = await FencedFileStore.open({ root });
    await expect(store.write('a', 'stale', 8n)).rejects.toThrow(StaleFencingTokenError);
    await store.append('a', 'three', 10n);
    await store.append('a', ', four', 10n);
    expect(await stateOf(root)).toEqual({ content: 'one!\ntwo;\nthree, four', mark: 10n });
  });

  it('goes on behind a record that is cut off at any byte, and behind several', async () => {
    const root = temporaryRoot();
    const { path, bytes, lengths } = await journalAfter(root, threeChanges);
    for (let length = lengths[1]!; length < bytes.length; length += 1) {
      await writeFile(path, bytes.subarray(0, length));
      const pieces = [bytes.subarray(lengths[1], length), bytes.subarray(lengths[1], lengths[1]! + 1)];
      for (const piece of pieces) await writeFile(path, piece, { flag: 'a' });
      await using store = await FencedFileStore.open({ root });
      await store.append('a', 'next', 10n);
      expect(await stateOf(root)).toEqual({ content: 'one!\nnext', mark: 10n });
    }
  });

  it('goes on behind anything, and what was acknowledged before and after it is there', async () => {
    const root = temporaryRoot();
    const { path, bytes } = await journalAfter(root, threeChanges);
    await fc.assert(
      fc.asyncProperty(fc.array(fc.uint8Array({ maxLength: 60 }), { maxLength: 4 }), async (tails) => {
        await writeFile(path, bytes);
        for (const [index, tail] of tails.entries()) {
          await writeFile(path, tail, { flag: 'a' });
          await using store = await FencedFileStore.open({ root });
          await store.append('a', `${index}`, 10n);
        }
        const { content } = await stateOf(root);
        expect(content).toBe(`one!\ntwo;\n${tails.map((_, index) => index).join('')}`);
      }),
      { numRuns: 25 },
    );
  });
});
