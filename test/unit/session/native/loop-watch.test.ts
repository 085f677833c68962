import { describe, expect, it } from '@jest/globals';
import { judgeLoop, type LoopFigures } from '../../../../lib/session/native/loop-watch.js';

const START: LoopFigures = { turns: 1_000, events: 1_100, idleMs: 5_000, activeMs: 300 };

function judge(turns: number, events: number, activeMs: number, idleMs: number, calls: number): string {
  const now = { turns: START.turns + turns, events: START.events + events };
  return judgeLoop(START, { ...now, activeMs: START.activeMs + activeMs, idleMs: START.idleMs + idleMs }, calls);
}

describe('The event loop of the thread', () => {
  it.each([
    ['without any event', 224, 3, 240, 10, 2],
    ['on a machine that lets it run for a part of the time only', 224, 0, 641, 379, 0],
    ['with events that nobody needs', 8_000, 8_000, 250, 0, 0],
    ['with events that nobody needs, beside some traffic', 8_000, 8_100, 250, 0, 120],
  ])('spins where it turns on and on %s', (_how, turns, events, activeMs, idleMs, calls) => {
    expect(judge(turns, events, activeMs, idleMs, calls)).toBe('spins');
  });

  it.each([
    ['that nothing happens in', 2, 0, 1, 249, 0],
    ['with requests one after the other', 300, 300, 60, 190, 200],
    ['that is busy with requests', 4_544, 4_700, 240, 10, 8_539],
    ['that is busy with long answers', 351, 360, 328, 50, 99],
    ['with an answer in many parts, which come over a network', 2_900, 2_900, 90, 900, 1],
  ])('works: one %s', (_what, turns, events, activeMs, idleMs, calls) => {
    expect(judge(turns, events, activeMs, idleMs, calls)).toBe('works');
  });

  it.each([
    ['a few turns without events', 60, 2, 240, 10, 0],
    ['one long answer', 100, 100, 240, 10, 1],
    ['a close of the package, which blocks', 3, 1, 4_500, 0, 1],
  ])('is looked at for longer after %s', (_what, turns, events, activeMs, idleMs, calls) => {
    expect(judge(turns, events, activeMs, idleMs, calls)).toBe('unclear');
  });
});
