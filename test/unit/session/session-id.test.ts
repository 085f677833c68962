import { expect, it } from '@jest/globals';
import { sessionIdText } from '../../../lib/session/session-id.js';

it.each([
  [0x1000_00ab_cdefn, '0x100000abcdef'],
  // A server with a high number: the sign is the first bit of its id.
  [-0x7f00_0000_0000_0000n, '0x8100000000000000'],
  [-1n, '0xffffffffffffffff'],
  [0n, '0x0'],
])('the session %s is written as ZooKeeper writes it: %s', (id, text) => {
  expect(sessionIdText(id)).toBe(text);
});
