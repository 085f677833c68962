import { it } from '@jest/globals';

/** The client of the lock services that `LockStage` opens. The files in `test/integration/native` choose the other one. */
export function clientUnderTest(): 'wire' | 'native' {
  return process.env['CLIENT_UNDER_TEST'] === 'native' ? 'native' : 'wire';
}

/** Whether locks can be upgraded. Where not, `nativeRefusal` says so, which has a test of its own. */
export const hasUpgrades = clientUnderTest() === 'wire';

/** Declares a test about an upgrade, where there are any. */
export const itUpgrades: (name: string, test: () => Promise<void>, timeoutMs?: number) => void = hasUpgrades
  ? it
  : () => undefined;
