import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { certaintyMarginMs } from '../../../../lib/session/certainty.js';
import { ProofOfLife } from '../../../../lib/session/core/proof-of-life.js';
import { play, type World } from './leader-model.js';

const RUNS = 3_000;

const world: fc.Arbitrary<World> = fc
  .record({ ticks: fc.integer({ min: 2, max: 8 }), tickMs: fc.constantFrom(500, 2_000) })
  .chain(({ ticks, tickMs }) =>
    fc.record({
      timeoutMs: fc.constant(ticks * tickMs),
      tickMs: fc.constant(tickMs),
      cutAt: fc.integer({ min: 0, max: ticks * tickMs * 3 }),
      pingPhase: fc.integer({ min: 0, max: tickMs / 2 - 1 }),
      traffic: fc.array(
        fc.record({
          kind: fc.constantFrom('read' as const, 'write' as const),
          afterMs: fc.integer({ min: 0, max: tickMs }),
          delayMs: fc.oneof(fc.constant(1), fc.integer({ min: 0, max: ticks * tickMs })),
          replyMs: fc.oneof(fc.constant(1), fc.integer({ min: 0, max: tickMs })),
        }),
        { maxLength: 40 },
      ),
    }),
  );

describe('Proof of life against a model of follower and leader', () => {
  it('is never certain for longer than the leader grants, wherever the cut and however late the requests', () => {
    fc.assert(
      fc.property(world, (given) => {
        const { answers, livesUntil } = play(given);
        const proof = new ProofOfLife(given.timeoutMs, given.tickMs, 0);
        for (const { kind, sentAt, answeredAt } of answers) {
          // A session that the leader has ended answers nothing more.
          if (answeredAt >= livesUntil(answeredAt)) return;
          proof.answered(sentAt, answeredAt);
          if (kind === 'write') proof.committed(sentAt, answeredAt);
          expect(proof.certainUntil).toBeLessThanOrEqual(livesUntil(answeredAt) - certaintyMarginMs(given.timeoutMs));
        }
      }),
      { numRuns: RUNS },
    );
  });

  it('tells nothing by accident: without a cut a busy session is certain for S less a tick and a half', () => {
    const traffic = Array.from(
      { length: 200 },
      () => ({ kind: 'write', afterMs: 100, delayMs: 1, replyMs: 1 }) as const,
    );
    const { answers } = play({ timeoutMs: 10_000, tickMs: 2_000, cutAt: Infinity, pingPhase: 0, traffic });
    const proof = new ProofOfLife(10_000, 2_000, 0);
    for (const { sentAt, answeredAt } of answers) {
      proof.answered(sentAt, answeredAt);
      proof.committed(sentAt, answeredAt);
      expect(proof.certainUntil - answeredAt).toBeGreaterThan(10_000 - 3_000);
    }
  });
});
