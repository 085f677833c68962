import { describe, expect, it } from '@jest/globals';
import { judgeLoop, type LoopFigures } from '../../../../lib/session/native/loop-watch.js';

const START: LoopFigures = { turns: 1_000, idleMs: 5_000, activeMs: 300 };

function judge(turns: number, activeMs: number, idleMs: number, calls: number): string {
  const now = { turns: START.turns + turns, activeMs: START.activeMs + activeMs, idleMs: START.idleMs + idleMs };
  return judgeLoop(START, now, calls);
}

describe('The event loop of the thread', () => {
  it('spins where it turns for nothing, without a rest', () => {
    expect(judge(8_000, 250, 0, 0)).toBe('spins');
    // The system did not let it run most of the time.
    expect(judge(224, 641, 379, 0)).toBe('spins');
    // Another client has some traffic meanwhile.
    expect(judge(8_000, 250, 0, 2_000)).toBe('spins');
  });

  it.each([
    ['that nothing happens in', 2, 1, 249, 0],
    ['with requests one after the other', 300, 60, 190, 200],
    ['that is busy with requests', 900, 250, 0, 2_000],
    ['with an answer in many parts, which come over a network', 700, 30, 900, 1],
    ['that a close of the package blocks', 3, 4_500, 0, 1],
  ])('works: one %s', (_what, turns, activeMs, idleMs, calls) => {
    expect(judge(turns, activeMs, idleMs, calls)).not.toBe('spins');
  });

  it('is looked at for longer where a few turns do not tell', () => {
    expect(judge(60, 240, 10, 0)).toBe('unclear');
    expect(judge(60, 10, 240, 0)).toBe('works');
  });
});
