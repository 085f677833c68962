import { toldOf } from '../../../queue/key-record.js';
import { type LockRow, lockRow, type LockScan, lockScan } from '../lock-scan.js';
import type { SeenTree } from './look-around.js';
import type { SeenContender, SeenKey } from './seen-key.js';

export function scanOf({ at, keys, unreadable }: SeenTree): LockScan {
  return lockScan({ at: new Date(at), locks: keys.map(rowOf), unreadable: unreadable.length });
}

export function rowOf({ key, contenders, vanished }: SeenKey): LockRow {
  const holders = holdersOf(contenders);
  const waits = waitersOf(contenders).map(({ snapshot }) => snapshot.ageMs);
  return lockRow({
    key,
    template: contenders.find(({ snapshot }) => snapshot.client?.template !== undefined)?.snapshot.client?.template,
    state: holders.length > 0 ? 'HELD' : vanished === undefined ? 'FREE' : 'EXPIRED',
    holders: holders.map(({ snapshot }) => snapshot),
    waiting: waits.length,
    holderAgeMs: largest(holders.map(({ snapshot }) => snapshot.ageMs)),
    longestWaitMs: largest(waits),
    waitedMs: waits.reduce((sum, ageMs) => sum + ageMs, 0),
    abandoned: vanished && toldOf(vanished),
  });
}

export function holdersOf(contenders: readonly SeenContender[]): SeenContender[] {
  return contenders.filter(({ state }) => state === 'holds');
}

export function waitersOf(contenders: readonly SeenContender[]): SeenContender[] {
  return contenders.filter(({ state }) => state === 'waits' || state === 'unnamed');
}

/** `Math.max` takes no more arguments than the stack has room for. */
function largest(values: readonly number[]): number | undefined {
  return values.reduce<number | undefined>(
    (most, value) => (most === undefined || value > most ? value : most),
    undefined,
  );
}
