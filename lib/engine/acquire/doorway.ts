import type { LockMode } from '../../lock/mode.js';
import { blocks } from '../../queue/decide.js';
import { Bell } from '../bounds/bell.js';
import type { EngineContext } from '../context.js';
import type { Hold } from '../hold/hold.js';
import type { Interrupt } from '../bounds/interrupt.js';

/**
 * What holds of the fleet and the holds that stand in for them share with `whenUnavailable: 'local'`: they come from two
 * queues that do not know of each other, and must exclude each other all the same. Each queue has its own order; who is
 * first in one still waits here for who is inside from the other, and keeps its place meanwhile. There is no order in
 * front of the door, on purpose: a reader that an upgrader waits for must not wait for a writer that waits for the upgrader.
 */
export class Doorway {
  readonly #inside = new Map<string, Set<Hold>>();
  readonly #listeners = new Set<(key: string) => void>();

  /** Whether nobody is inside that excludes one of this mode; `own` does not stand in its own way. */
  isOpen(key: string, mode: LockMode, own?: Hold): boolean {
    return this.inTheWay(key, mode, own) === undefined;
  }

  /** One that is inside and excludes one of this mode. */
  inTheWay(key: string, mode: LockMode, own?: Hold): Hold | undefined {
    for (const hold of this.#inside.get(key) ?? []) if (hold !== own && blocks(hold.mode, mode)) return hold;
    return undefined;
  }

  /** From now on, and until it is given back or lost. */
  enter(hold: Hold): void {
    const { key } = hold.request;
    const inside = this.#inside.get(key) ?? new Set();
    this.#inside.set(key, inside.add(hold));
    hold.onEnd(() => {
      inside.delete(hold);
      if (inside.size === 0 && this.#inside.get(key) === inside) this.#inside.delete(key);
      for (const listener of [...this.#listeners]) listener(key);
    });
  }

  /** @returns how to stop listening */
  onLeave(listener: (key: string) => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }
}

/** Whether the hold may begin, as far as this process is concerned. Nothing may be awaited between the answer and the hold. */
export function isDoorOpen({ doorway }: EngineContext, key: string, mode: LockMode, own?: Hold): boolean {
  return doorway === undefined || doorway.isOpen(key, mode, own);
}

/** Resolves when somebody has come out, or the link has changed: look again. */
export async function waitAtDoor({ doorway, uplink }: EngineContext, key: string, interrupt: Interrupt): Promise<void> {
  interrupt.isBehindOthers = true;
  const bell = new Bell();
  const stopWatchingDoor = doorway?.onLeave((left) => left === key && bell.ring());
  const stopWatchingLink = uplink.onChange(() => bell.ring());
  try {
    await interrupt.guard(bell.heard());
  } finally {
    stopWatchingDoor?.();
    stopWatchingLink();
  }
}
