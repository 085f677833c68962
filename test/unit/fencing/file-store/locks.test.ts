import { describe, expect, it } from '@jest/globals';
import { FencedFileStore } from '../../../../lib/fencing/file-store/fenced-file-store.js';
import { createLockService } from '../../../../lib/open.js';
import { LockHandle } from '../../../../lib/lock/handle.js';
import { LockLostError } from '../../../../lib/lock/errors.js';
import { temporaryRoot } from './support/temporary-root.js';
import { telling } from '../../../support/telling.js';

/** A lock in doubt until the test says what became of it. */
class SuspendedLock extends LockHandle {
  override readonly key = '/locks/a';
  override readonly mode = 'exclusive';
  override readonly nodePath = '/locks/a/x';
  override readonly scope = 'fleet';
  override readonly fencingToken = 7n;
  override readonly abandoned = undefined;
  override readonly signal = new AbortController().signal;
  resume: () => void = () => undefined;
  lose: (reason: Error) => void = () => undefined;
  readonly #sure = new Promise<void>((resolve, reject) => {
    this.resume = resolve;
    this.lose = reject;
  });

  override isHeld(): boolean {
    return true;
  }
  override assertHeld(): void {}
  override remainingMs(): number {
    return 1;
  }
  override whenSure(): Promise<void> {
    return this.#sure;
  }
  override extend(): void {}
  override onRemaining(): () => void {
    return () => undefined;
  }
  override async upgrade(): Promise<void> {}
  override async checkpoint(): Promise<void> {}
  override async release(): Promise<void> {}
}

describe('a lock as the fence of a file', () => {
  it('writes under its own token', async () => {
    await using locks = await createLockService({ connect: 'memory:' });
    await using store = await FencedFileStore.open({ root: temporaryRoot() });
    const tokens: bigint[] = [];
    for (const text of ['a', 'b']) {
      await using lock = await locks.acquire('/locks/a');
      await store.append('a', text, lock);
      tokens.push(lock.fencingToken);
    }

    expect(await store.read('a')).toEqual({ content: Buffer.from('ab'), fencingToken: tokens[1] });
    await expect(store.append('a', 'late', tokens[0]!)).rejects.toThrow(telling('comes too late'));
  });

  it('lets its writes wait while it is suspended, and nobody else', async () => {
    await using store = await FencedFileStore.open({ root: temporaryRoot() });
    await store.write('a', 'old', 5n);
    const lock = new SuspendedLock();
    const writing = store.write('a', 'new', lock);

    await store.append('a', ', more', 6n);
    expect(String((await store.read('a'))?.content)).toBe('old, more');
    lock.resume();
    await writing;
    expect(String((await store.read('a'))?.content)).toBe('new');
  });

  it('writes nothing once it is lost', async () => {
    await using store = await FencedFileStore.open({ root: temporaryRoot() });
    const lock = new SuspendedLock();
    const updating = store.update('a', lock, () => 'new');
    lock.lose(new LockLostError('lost', lock.key));

    await expect(updating).rejects.toThrow(LockLostError);
    expect(await store.highestToken('a')).toBeUndefined();
  });
});
