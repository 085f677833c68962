import { describe, expect, it } from '@jest/globals';
import { certaintyMarginMs } from '../../../../lib/session/certainty.js';
import { ProofOfLife } from '../../../../lib/session/core/proof-of-life.js';

const S = 10_000;
const TICK = 2_000;

/** A request that was answered at once; a write also proves. */
function exchange(proof: ProofOfLife, at: number, kind: 'read' | 'write' = 'read'): void {
  proof.answered(at, at);
  if (kind === 'write') proof.committed(at, at);
}

describe('Proof of life: certainty comes from a committed write, not from a ping', () => {
  it('writes at 0, 3, 6 s, tick 2 s, S 10 s: the write at 6 makes a request sent at 3.9 count: certain until 13.7 s', () => {
    const proof = new ProofOfLife(S, TICK, -60_000);
    exchange(proof, 0, 'write');
    exchange(proof, 3_000, 'write');
    exchange(proof, 3_900);
    exchange(proof, 6_000, 'write');
    expect(proof.certainUntil).toBe(13_700);
  });

  it('does not count a request that was answered less than a tick before the write was sent', () => {
    const proof = new ProofOfLife(S, TICK, -60_000);
    exchange(proof, 3_900);
    exchange(proof, 4_100);
    exchange(proof, 6_000, 'write');
    expect(proof.certainUntil).toBe(13_700);
  });

  it('counts from when a request was sent, and not before it was answered', () => {
    const proof = new ProofOfLife(S, TICK, 0);
    proof.answered(1_000, 4_500);
    proof.committed(6_000, 6_000);
    expect(proof.certainUntil).toBe(0 + S - 200);
    proof.committed(6_500, 6_500);
    expect(proof.certainUntil).toBe(1_000 + S - 200);
  });

  it('is not extended by pings and reads, however many', () => {
    const proof = new ProofOfLife(S, TICK, 0);
    for (let at = 100; at < 60_000; at += 100) exchange(proof, at);
    expect(proof.certainUntil).toBe(S - 200);
  });

  it('starts with the handshake that created the session, at its own send time', () => {
    expect(new ProofOfLife(S, TICK, 500).certainUntil).toBe(500 + S - 200);
  });

  it('keeps a margin of a fiftieth of S, and of 50 ms at the least', () => {
    expect(certaintyMarginMs(10_000)).toBe(200);
    expect(certaintyMarginMs(1_000)).toBe(50);
    expect(new ProofOfLife(1_000, 500, 0).certainUntil).toBe(950);
  });

  it('takes a handshake that only re-attached for a request like any other', () => {
    const proof = new ProofOfLife(S, TICK, 0);
    proof.attached(5_000, 5_010, S);
    expect(proof.certainUntil).toBe(S - 200);
    proof.committed(7_009, 7_009);
    expect(proof.certainUntil).toBe(S - 200);
    proof.committed(7_010, 7_010);
    expect(proof.certainUntil).toBe(5_000 + S - 200);
  });

  it('forgets what an earlier connection carried: another server may never have told the leader', () => {
    const proof = new ProofOfLife(S, TICK, 0);
    exchange(proof, 3_000);
    proof.attached(5_500, 5_510, S);
    proof.committed(6_000, 6_000);
    expect(proof.certainUntil).toBe(S - 200);
  });

  it('goes back when another server grants a smaller S, and never forward', () => {
    const proof = new ProofOfLife(S, TICK, 0);
    proof.attached(1_000, 1_010, 4_000);
    expect(proof.certainUntil).toBe(1_000 + 4_000 - 80);
    proof.attached(2_000, 2_010, 4_000);
    expect(proof.certainUntil).toBe(1_000 + 4_000 - 80);

    const nearItsEnd = new ProofOfLife(S, TICK, 0);
    nearItsEnd.attached(9_000, 9_010, 4_000);
    expect(nearItsEnd.certainUntil).toBe(S - 200);
  });
});

describe('Proof of life: since when certainty has not been interrupted', () => {
  it('proof in time continues the stretch that began with the session', () => {
    const proof = new ProofOfLife(S, TICK, 0);
    exchange(proof, 5_000);
    exchange(proof, 9_000, 'write');
    expect(proof.certainSince).toBe(0);
  });

  it('proof that comes after the end begins a new one: what was lost stays lost', () => {
    const proof = new ProofOfLife(S, TICK, 0);
    exchange(proof, 7_000);
    proof.committed(9_700, 9_800);
    expect(proof.certainUntil).toBe(7_000 + S - 200);
    expect(proof.certainSince).toBe(9_800);
  });

  it('a write that proves nothing new begins nothing', () => {
    const proof = new ProofOfLife(S, TICK, 0);
    proof.committed(20_000, 20_000);
    expect(proof.certainSince).toBe(0);
  });
});

describe('Proof of life: when a write would gain certainty', () => {
  it('names no instant while nothing newer was answered', () => {
    const proof = new ProofOfLife(S, TICK, 0);
    proof.attached(0, 10, S);
    expect(proof.nextExtension()).toBe(Infinity);
  });

  it('names the instant at which the oldest unproved request becomes ripe', () => {
    const proof = new ProofOfLife(S, TICK, 0);
    proof.attached(0, 10, S);
    proof.answered(1_000, 1_020);
    proof.answered(2_000, 2_020);
    expect(proof.nextExtension()).toBe(1_020 + TICK);
  });

  it('keeps its word: a write sent at that very instant moves certainty, for any fraction of a millisecond', () => {
    for (let step = 1; step < 2_000; step += 1) {
      const proof = new ProofOfLife(S, TICK, 0);
      proof.answered(step * 0.137, step * 0.731);
      const before = proof.certainUntil;
      proof.committed(proof.nextExtension(), 9_000);
      expect(proof.certainUntil).toBeGreaterThan(before);
    }
  });

  it('remembers enough under dense traffic to prove with the write of two ticks later', () => {
    const proof = new ProofOfLife(S, TICK, 0);
    for (let at = 1; at <= 60_000; at += 1) exchange(proof, at);
    proof.committed(60_000, 60_000);
    expect(proof.certainUntil).toBeGreaterThan(60_000 - TICK - TICK / 32 + S - 200);
    expect(proof.certainUntil).toBeLessThanOrEqual(60_000 - TICK + S - 200);
  });
});
