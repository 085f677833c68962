import { describe, expect, it } from '@jest/globals';
import { certaintyMarginMs } from '../../../../lib/session/certainty.js';
import { ProofOfLife } from '../../../../lib/session/core/proof-of-life.js';

const S = 10_000;
const TICK = 2_000;

type Kind = 'read' | 'sync' | 'write';

/** The proof of a session, told of one connection's answers in their order. */
class Rig {
  readonly proof: ProofOfLife;
  #answers = 0;

  constructor(createdAt = 0, timeoutMs = S, tickMs = TICK) {
    this.proof = new ProofOfLife(timeoutMs, tickMs, createdAt);
  }

  get until(): number {
    return this.proof.certainUntil;
  }

  /** A request that was answered at once, unless it is said when. @param sentAfter by default all answers so far */
  ask(kind: Kind, sentAt: number, answeredAt = sentAt, sentAfter = this.#answers): this {
    this.#answers += 1;
    const passage = { sentAt, sentAfter, answer: this.#answers };
    this.proof.answered(sentAt, answeredAt);
    if (kind === 'write') this.proof.committed(passage, answeredAt);
    else if (kind === 'sync') this.proof.passed(passage, answeredAt);
    return this;
  }

  /** A committed write, and a sync that vouches for it. */
  prove(sentAt: number, answeredAt = sentAt): this {
    return this.ask('write', sentAt, answeredAt).ask('sync', answeredAt);
  }
}

describe('Proof of life, which takes two answers in a row, of which one is a committed write:', () => {
  it('writes at 0, 3 and 6 s make a request sent at 3.9 s count, until 13.7 s, with ticks of 2 s and S of 10 s', () => {
    const rig = new Rig(-60_000).ask('write', 0).ask('write', 3_000).ask('read', 3_900).ask('write', 6_000);
    expect(rig.until).toBe(0 + S - 200);
    rig.ask('sync', 6_010);
    expect(rig.until).toBe(13_700);
  });

  it('the later of two writes vouches for the earlier', () => {
    const rig = new Rig().ask('read', 3_900).ask('write', 6_000).ask('write', 6_020);
    expect(rig.until).toBe(13_700);
  });

  it('a committed write alone proves nothing: the answers to the pings before it may never have arrived', () => {
    expect(new Rig().ask('read', 3_900).ask('write', 6_000).until).toBe(S - 200);
  });

  it('what was sent before the answer to a write does not vouch for it', () => {
    const rig = new Rig().ask('read', 3_900).ask('write', 6_000, 6_050).ask('sync', 6_001, 6_060, 1);
    expect(rig.until).toBe(S - 200);
    expect(rig.ask('sync', 6_070, 6_071).until).toBe(13_700);
  });

  it('reads and pings vouch for nothing, as a follower answers them by itself', () => {
    const rig = new Rig().ask('read', 3_900).ask('write', 6_000).ask('read', 6_010).ask('read', 6_020);
    expect(rig.until).toBe(S - 200);
    expect(rig.proof.awaitsPassage).toBe(true);
  });

  it('a sync alone proves nothing: a leader that was cut off answers it, too', () => {
    const rig = new Rig();
    for (let at = 100; at < 60_000; at += 100) rig.ask('sync', at);
    expect(rig.until).toBe(S - 200);
  });

  it('a request that was answered less than a tick before the write was sent does not count', () => {
    expect(new Rig(-60_000).ask('read', 3_900).ask('read', 4_100).prove(6_000).until).toBe(13_700);
  });

  it('certainty counts from when a request was sent, and not before it was answered', () => {
    const rig = new Rig().ask('read', 1_000, 4_500).prove(6_000);
    expect(rig.until).toBe(0 + S - 200);
    expect(rig.prove(6_500).until).toBe(1_000 + S - 200);
  });

  it('certainty is not extended by pings and reads, however many', () => {
    const rig = new Rig();
    for (let at = 100; at < 60_000; at += 100) rig.ask('read', at);
    expect(rig.until).toBe(S - 200);
  });

  it('certainty starts with the handshake that created the session, at its own send time', () => {
    expect(new Rig(500).until).toBe(500 + S - 200);
  });

  it('certainty keeps a margin of a fiftieth of S, and of 50 ms at the least', () => {
    expect(certaintyMarginMs(10_000)).toBe(200);
    expect(certaintyMarginMs(1_000)).toBe(50);
    expect(new Rig(0, 1_000, 500).until).toBe(950);
  });
});

describe('Proof of life: a session that is taken up again', () => {
  it('lives S from the handshake once a write behind it was committed, with no tick to wait for', () => {
    const { rig, proof } = reattached(5_000);
    expect(proof.awaitsWrite).toBe(true);
    expect(proof.nextExtension()).toBe(-Infinity);
    rig.ask('write', 5_011, 5_020);
    expect(proof.certainUntil).toBe(5_000 + S - 200);
    expect(proof.awaitsWrite).toBe(false);
  });

  it('is certain for two ticks at the most while the offer is not answered: the server may have shortened it', () => {
    const { proof } = new Rig();
    proof.offered(3_000);
    expect(proof.certainUntil).toBe(3_000 + 2 * TICK - 200);
  });

  it('counts the earliest of several offers', () => {
    const { proof } = new Rig();
    proof.offered(3_000);
    proof.offered(4_000);
    expect(proof.certainUntil).toBe(3_000 + 2 * TICK - 200);
  });

  it('gains nothing by an offer when less was left', () => {
    const { proof } = new Rig();
    proof.offered(8_000);
    expect(proof.certainUntil).toBe(S - 200);
  });

  it('is freed of that by the answer, which says what was granted', () => {
    const { proof } = reattached(3_000);
    expect(proof.certainUntil).toBe(S - 200);
  });

  it('begins a new stretch where the answer came when the two ticks were over', () => {
    const rig = new Rig(0, 30_000);
    rig.proof.offered(3_000);
    rig.proof.attached(3_000, 8_000, 30_000);
    expect(rig.proof.certainUntil).toBeGreaterThan(8_000);
    expect(rig.proof.certainSince).toBe(8_000);
  });

  it('is not freed of that by an answer where an earlier offer had none: a leader that was cut off may have given it', () => {
    const { rig, proof } = offeredInVain(3_000);
    proof.offered(3_500);
    proof.attached(3_500, 3_510, S);
    expect(proof.certainUntil).toBe(3_000 + 2 * TICK - 200);
    rig.ask('write', 3_520, 3_530);
    expect(proof.certainUntil).toBe(3_500 + S - 200);
    proof.offered(4_000);
    proof.attached(4_000, 4_010, S);
    expect(proof.certainUntil).toBe(3_500 + S - 200);
  });

  it('makes no lost lock good by an offer: what had ended before the write stays ended', () => {
    const { rig, proof } = offeredInVain(3_000);
    proof.offered(3_500);
    proof.attached(3_500, 3_510, S);
    rig.ask('write', 7_000, 7_100);
    expect(proof.certainUntil).toBe(3_500 + S - 200);
    expect(proof.certainSince).toBe(7_100);
  });

  it('forgets what an earlier connection carried: another server may never have told the leader', () => {
    const rig = new Rig().ask('read', 3_000).ask('write', 5_400);
    rig.proof.offered(5_500);
    rig.proof.attached(5_500, 5_510, S);
    expect(rig.proof.awaitsPassage).toBe(false);
    rig.prove(6_000);
    expect(rig.until).toBe(5_500 + S - 200);
  });

  it('goes back when another server grants a smaller S, and never forward', () => {
    const { proof } = new Rig();
    proof.attached(1_000, 1_010, 4_000);
    expect(proof.certainUntil).toBe(1_000 + 4_000 - 80);
    proof.attached(2_000, 2_010, 4_000);
    expect(proof.certainUntil).toBe(1_000 + 4_000 - 80);

    const nearItsEnd = new Rig().proof;
    nearItsEnd.attached(9_000, 9_010, 4_000);
    expect(nearItsEnd.certainUntil).toBe(S - 200);
  });
});

function offeredInVain(at: number): { rig: Rig; proof: ProofOfLife } {
  const rig = new Rig();
  rig.proof.offered(at);
  return { rig, proof: rig.proof };
}

function reattached(at: number): { rig: Rig; proof: ProofOfLife } {
  const rig = new Rig();
  rig.proof.offered(at);
  rig.proof.attached(at, at + 10, S);
  return { rig, proof: rig.proof };
}

describe('Proof of life: a stretch of certainty', () => {
  it('goes on from the begin of the session where proof comes in time', () => {
    expect(new Rig().ask('read', 5_000).prove(9_000).proof.certainSince).toBe(0);
  });

  it('begins anew with proof that comes after its end: what was lost stays lost', () => {
    const rig = new Rig().ask('read', 7_000).ask('write', 9_700).ask('sync', 9_750, 9_800);
    expect(rig.until).toBe(7_000 + S - 200);
    expect(rig.proof.certainSince).toBe(9_800);
  });

  it('does not begin with a write that proves nothing new', () => {
    const rig = new Rig();
    rig.proof.committed({ sentAt: 20_000, sentAfter: 0, answer: 1 }, 20_000);
    rig.proof.passed({ sentAt: 20_001, sentAfter: 1, answer: 2 }, 20_001);
    expect(rig.proof.certainSince).toBe(0);
  });
});

describe('Proof of life: the time at which a write would gain certainty', () => {
  it('is none while nothing newer was answered', () => {
    const { proof } = new Rig();
    proof.attached(0, 10, S);
    expect(proof.nextExtension()).toBe(Infinity);
  });

  it('is the instant at which the oldest unproved request becomes ripe', () => {
    const rig = new Rig().ask('read', 1_000, 1_020).ask('read', 2_000, 2_020);
    expect(rig.proof.nextExtension()).toBe(1_020 + TICK);
  });

  it('does not come for a second write where one only waits to be vouched for', () => {
    const rig = new Rig().ask('read', 1_000).ask('write', 3_000);
    expect(rig.proof.awaitsPassage).toBe(true);
    expect(rig.proof.nextExtension()).toBe(3_000 + TICK);
  });

  it('is exact: a write sent at that very instant moves certainty, for any fraction of a millisecond', () => {
    for (let step = 1; step < 2_000; step += 1) {
      const rig = new Rig().ask('read', step * 0.137, step * 0.731);
      const before = rig.until;
      rig.ask('write', rig.proof.nextExtension(), 9_000);
      expect(rig.proof.awaitsPassage).toBe(true);
      rig.ask('sync', 9_000);
      expect(rig.until).toBeGreaterThan(before);
    }
  });

  it('is known under dense traffic, too: enough is remembered to prove with the write of two ticks later', () => {
    const rig = new Rig();
    for (let at = 1; at <= 60_000; at += 1) rig.ask('read', at);
    rig.prove(60_000);
    expect(rig.until).toBeGreaterThan(60_000 - TICK - TICK / 32 + S - 200);
    expect(rig.until).toBeLessThanOrEqual(60_000 - TICK + S - 200);
  });
});
