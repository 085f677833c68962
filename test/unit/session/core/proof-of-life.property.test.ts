import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { certaintyMarginMs } from '../../../../lib/session/certainty.js';
import { ProofOfLife } from '../../../../lib/session/core/proof-of-life.js';
import { type Answer, play, type Stall, type Traffic, type World } from './leader-model.js';

const RUNS = 10_000;

function stalls(tickMs: number, untilMs: number): fc.Arbitrary<Stall[]> {
  return fc.array(
    fc.record({
      startsAt: fc.integer({ min: 0, max: untilMs }),
      lastsMs: fc.oneof(fc.integer({ min: 0, max: 2 * tickMs }), fc.integer({ min: 0, max: 4 * tickMs })),
    }),
    { maxLength: 3 },
  );
}

/** Requests of a busy client, most of them quick. */
function traffic(tickMs: number, slowestMs: number, spacingMs: number): fc.Arbitrary<Traffic[]> {
  const delay = fc.oneof(
    { weight: 6, arbitrary: fc.constant(1) },
    { weight: 1, arbitrary: fc.integer({ min: 0, max: slowestMs }) },
  );
  return fc.array(
    fc.record({
      kind: fc.constantFrom('read' as const, 'sync' as const, 'write' as const),
      afterMs: fc.oneof(fc.integer({ min: 0, max: 5 }), fc.integer({ min: 0, max: spacingMs })),
      waitsForAnswer: fc.boolean(),
      delayMs: delay,
      replyMs: fc.oneof(
        { weight: 6, arbitrary: fc.constant(1) },
        { weight: 1, arbitrary: fc.integer({ min: 0, max: tickMs }) },
      ),
    }),
    { minLength: 1, maxLength: 40 },
  );
}

const ensemble = fc.record({ ticks: fc.integer({ min: 2, max: 8 }), tickMs: fc.constantFrom(500, 2_000) });

const anyTrouble: fc.Arbitrary<World> = ensemble.chain(({ ticks, tickMs }) =>
  fc.record({
    timeoutMs: fc.constant(ticks * tickMs),
    tickMs: fc.constant(tickMs),
    cutAt: fc.integer({ min: 0, max: ticks * tickMs * 3 }),
    pingPhase: fc.integer({ min: 0, max: tickMs / 2 - 1 }),
    stallsToFollower: stalls(tickMs, ticks * tickMs * 3),
    stallsToLeader: stalls(tickMs, ticks * tickMs * 3),
    traffic: traffic(tickMs, ticks * tickMs, tickMs),
  }),
);

/** The worst that is known: the way from the leader recovers, and the way back does not. */
const cutAsItRecovers: fc.Arbitrary<World> = ensemble.chain(({ ticks, tickMs }) =>
  fc
    .record({
      startsAt: fc.integer({ min: 0, max: 3 * tickMs }),
      lastsMs: fc.integer({ min: tickMs / 2, max: 3 * tickMs }),
      cutAfterMs: fc.integer({ min: 1, max: 100 }),
      pingPhase: fc.integer({ min: 0, max: tickMs / 2 - 1 }),
      traffic: traffic(tickMs, tickMs, tickMs / 4),
    })
    .map(({ startsAt, lastsMs, cutAfterMs, pingPhase, ...rest }) => ({
      timeoutMs: ticks * tickMs,
      tickMs,
      pingPhase,
      cutAt: startsAt + lastsMs + cutAfterMs,
      stallsToFollower: [{ startsAt, lastsMs }],
      stallsToLeader: [{ startsAt: startsAt + lastsMs, lastsMs: 10 * tickMs }],
      ...rest,
    })),
);

/** Tells the proof of one answer after the other. */
function* tell(proof: ProofOfLife, answers: readonly Answer[]): Generator<Answer> {
  for (const [index, answer] of answers.entries()) {
    const { kind, sentAt, answeredAt } = answer;
    const passage = { ...answer, answer: index + 1 };
    proof.answered(sentAt, answeredAt);
    if (kind === 'write') proof.committed(passage, answeredAt);
    else if (kind === 'sync') proof.passed(passage, answeredAt);
    yield answer;
  }
}

describe('Proof of life against a model of follower and leader', () => {
  it('is never certain when the leader could have ended the session, whatever stalls, wherever the cut, however late the requests', () => {
    fc.assert(
      fc.property(fc.oneof(anyTrouble, cutAsItRecovers), (given) => {
        const { answers, livesUntil } = play(given);
        const proof = new ProofOfLife(given.timeoutMs, given.tickMs, 0);
        for (const { answeredAt } of tell(proof, answers)) {
          // A session that the leader has ended answers nothing more.
          if (answeredAt >= livesUntil(answeredAt)) return;
          expect(proof.certainUntil).toBeLessThanOrEqual(livesUntil(answeredAt) - certaintyMarginMs(given.timeoutMs));
        }
      }),
      { numRuns: RUNS },
    );
  });

  it('tells nothing by accident: without trouble a busy session is certain for S less a tick and a half', () => {
    const traffic = Array.from(
      { length: 200 },
      () => ({ kind: 'write', afterMs: 100, waitsForAnswer: false, delayMs: 1, replyMs: 1 }) as const,
    );
    const calm = { cutAt: Infinity, pingPhase: 0, stallsToFollower: [], stallsToLeader: [] };
    const { answers } = play({ timeoutMs: 10_000, tickMs: 2_000, ...calm, traffic });
    const proof = new ProofOfLife(10_000, 2_000, 0);
    for (const { answeredAt } of tell(proof, answers)) {
      expect(proof.certainUntil - answeredAt).toBeGreaterThan(10_000 - 3_000);
    }
  });
});
