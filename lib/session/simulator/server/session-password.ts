import { SeededRandom } from '../time/random.js';

const PASSWORD_BYTES = 16;

/** The password of a session. Every server can compute it, as in ZooKeeper, so nothing is stored. */
export function passwordOf(sessionId: bigint): Uint8Array {
  const random = new SeededRandom(0).fork(`password of ${sessionId}`);
  return Uint8Array.from({ length: PASSWORD_BYTES }, () => random.integer(256));
}

export function samePassword(one: Uint8Array, other: Uint8Array): boolean {
  return one.length === other.length && one.every((byte, index) => byte === other[index]);
}
