/**
 * The client of the lock services that tests open, and whose limits the simulated fleet has. A test file that plays the
 * promises of others with the other client chooses it before it loads them.
 */
export function clientUnderTest(): 'wire' | 'native' {
  return process.env['CLIENT_UNDER_TEST'] === 'native' ? 'native' : 'wire';
}

/** Whether locks can be upgraded. Where not, that they are refused has a test of its own. */
export const hasUpgrades = clientUnderTest() === 'wire';
