/**
 * How a lock is held.
 *
 * - `exclusive`, `write`: alone. `exclusive` is the mutex that other clients know, `write` is the writing side of a
 *   read-write lock
 * - `read`: together with other readers
 * - `upgradeable`: together with readers, and as the only one who may become a writer (`LockHandle.upgrade`)
 */
export type LockMode = 'exclusive' | 'read' | 'write' | 'upgradeable';

export const LOCK_MODES: readonly LockMode[] = ['exclusive', 'read', 'write', 'upgradeable'];

/** Whether a holder of `held` has all the rights that `asked` would give it. */
export function covers(held: LockMode, asked: LockMode): boolean {
  switch (held) {
    case 'exclusive':
    case 'write':
      return true;
    case 'upgradeable':
      return asked === 'read' || asked === 'upgradeable';
    case 'read':
      return asked === 'read';
  }
}

/** The weakest mode that gives the rights of both. */
export function strongest(left: LockMode, right: LockMode): LockMode {
  return covers(left, right) ? left : right;
}
