/** What the event loop of a thread has done since it began. */
export interface LoopFigures {
  /** How often it turned, but for timers that did nothing. */
  readonly turns: number;
  /** How often it was told that something had happened: a turn begins with that, or with a timer. */
  readonly events: number;
  /** For how long it waited for something to happen, and for how long it did not. */
  readonly idleMs: number;
  readonly activeMs: number;
}

/**
 * What an event loop did since it was looked at: it rested or did its work, it spun, or there were too few turns to tell.
 *
 * The package's sockets are inherited by each child process that the application starts. One that is closed here while a
 * child still has it stays in what the loop waits for, under its number, and can be taken out no more. As soon as there
 * is something to read from it, the loop does not rest again. While nobody has that number, it turns without an event.
 * The next socket with that number is told of the events in its place, and never that it may write: its handshake does
 * not leave. (Linux only. The package opens its sockets without SOCK_CLOEXEC.)
 *
 * A loop with much to do rests as little, and its turns lead to something: the longest answer takes fewer turns than a
 * loop that spins makes in a tenth of a second.
 *
 * @param calls how often something was done or told in that time
 */
export function judgeLoop(before: LoopFigures, now: LoopFigures, calls: number): 'works' | 'spins' | 'unclear' {
  const turns = now.turns - before.turns;
  const rests = now.idleMs - before.idleMs > 4 * (now.activeMs - before.activeMs);
  const isWithoutEvents = turns > 2 * (now.events - before.events);
  const isInVain = turns > 50 * calls;
  if (rests || !(isWithoutEvents || isInVain)) return 'works';
  return (isWithoutEvents && turns >= 100) || (isInVain && turns >= 2_000) ? 'spins' : 'unclear';
}

/** Is told what happens in the thread. */
export interface LoopWatch {
  /** Something was done or told. */
  called(): void;
  /** A timer fired, and nothing was to be done. */
  timerFired(): void;
}

/**
 * Looks at the event loop of its thread from time to time. The source text of these two functions is part of the thread's
 * program, so they refer to nothing outside of themselves.
 *
 * @param judge `judgeLoop`
 */
export function watchLoop(judge: typeof judgeLoop, onSpinning: () => void): LoopWatch {
  /** A session whose handshake does not leave has come up again long before its time is over. */
  const LOOK_EVERY_MS = 250;
  let calls = 0;
  let timers = 0;
  let before = figures();
  setInterval(() => {
    const now = figures();
    const verdict = judge(before, now, calls);
    if (verdict === 'unclear') return;
    before = now;
    calls = 0;
    if (verdict === 'spins') onSpinning();
  }, LOOK_EVERY_MS).unref();

  function figures(): LoopFigures {
    const { idle, active } = performance.eventLoopUtilization();
    const { loopCount, events } = performance.nodeTiming.uvMetricsInfo;
    return { turns: loopCount - timers, events, idleMs: idle, activeMs: active };
  }

  return {
    called: () => void (calls += 1),
    timerFired: () => void (timers += 1),
  };
}
