import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { Liveness } from '../../../../lib/session/core/liveness.js';
import { ManualClock } from '../../support/manual-clock.js';

const S = 6_000;
const TICK = 2_000;

/** A connection's liveness, and what it did when. */
class Patient {
  readonly clock: ManualClock;
  readonly pings: number[] = [];
  silentMs: number | undefined;
  readonly liveness: Liveness;
  /** After this long the server answers a ping; undefined: never. */
  answersAfterMs: number | undefined;
  /** Until when what is held is certain, counted from the start; undefined: nothing is held. */
  heldUntil: number | undefined;
  readonly #startedAt: number;

  constructor(timeoutMs = S, tickMs = TICK, startAt = 1_000) {
    this.clock = new ManualClock(startAt);
    this.#startedAt = startAt;
    this.liveness = new Liveness(this.clock, { timeoutMs, tickMs }, startAt, {
      sendPing: () => this.#ping(),
      onSilence: (silentMs) => (this.silentMs = silentMs),
      heldUntil: () => (this.heldUntil === undefined ? undefined : this.#startedAt + this.heldUntil),
    });
  }

  get elapsed(): number {
    return this.clock.now() - this.#startedAt;
  }

  #ping(): void {
    this.pings.push(this.elapsed);
    this.liveness.sent(this.clock.now());
    if (this.answersAfterMs === undefined) return;
    this.clock.setTimer(this.answersAfterMs, () => this.liveness.heard(this.clock.now()));
  }
}

describe('An idle connection', () => {
  it('pings every third of S', () => {
    const patient = new Patient();
    patient.answersAfterMs = 10;
    patient.clock.pass(10_000);
    expect(patient.pings).toEqual([2_000, 4_000, 6_000, 8_000, 10_000]);
    expect(patient.silentMs).toBeUndefined();
  });

  it('pings every tick where that is shorter', () => {
    const patient = new Patient(S, 500);
    patient.answersAfterMs = 10;
    patient.clock.pass(2_000);
    expect(patient.pings).toEqual([500, 1_000, 1_500, 2_000]);
  });

  it('pings twice in what S is longer than a tick where that is shorter, so that a lock acquired after idling can be proved again', () => {
    const patient = new Patient(S, S / 2);
    patient.answersAfterMs = 10;
    patient.clock.pass(6_000);
    expect(patient.pings).toEqual([1_500, 3_000, 4_500, 6_000]);
  });

  it('does not ping while requests are sent anyway', () => {
    const patient = new Patient();
    for (let step = 0; step < 100; step += 1) {
      patient.clock.pass(100);
      patient.liveness.sent(patient.clock.now());
      patient.liveness.heard(patient.clock.now());
    }
    expect(patient.pings).toEqual([]);
    patient.clock.pass(2_000);
    expect(patient.pings).toEqual([12_000]);
  });

  it('has one timer, however many requests pass, and none once stopped', () => {
    const patient = new Patient();
    for (let request = 0; request < 1_000; request += 1) {
      patient.liveness.sent(patient.clock.now());
      patient.liveness.heard(patient.clock.now());
    }
    expect(patient.clock.timers).toBe(1);
    patient.liveness.stop();
    expect(patient.clock.timers).toBe(0);
  });

  it('never spins: an instant at which a ping is due ends with a ping, for any fraction of a millisecond', () => {
    fc.assert(
      fc.property(
        fc.double({ min: 0, max: 1e9, noNaN: true }),
        fc.double({ min: 100, max: 60_000, noNaN: true }),
        (startAt, timeoutMs) => {
          const patient = new Patient(timeoutMs, timeoutMs / 3, startAt);
          let timersSet = 0;
          const setTimer = patient.clock.setTimer.bind(patient.clock);
          patient.clock.setTimer = (delayMs, callback) => {
            timersSet += 1;
            if (timersSet > 100) throw new Error('the timer is set again and again without a ping');
            return setTimer(delayMs, callback);
          };
          patient.clock.pass(timeoutMs / 2);
          expect(patient.pings).toHaveLength(1);
        },
      ),
    );
  });
});

describe('A silent connection', () => {
  it('is given up two thirds of S after the last byte', () => {
    const patient = new Patient();
    patient.clock.pass(1_000);
    patient.liveness.heard(patient.clock.now());
    patient.clock.pass(3_999);
    expect(patient.silentMs).toBeUndefined();
    patient.clock.pass(1);
    expect(patient.silentMs).toBe(4_000);
    expect(patient.clock.timers).toBe(0);
  });

  it('is not kept by what we send into it', () => {
    const patient = new Patient();
    for (let step = 0; step < 40; step += 1) {
      patient.clock.pass(100);
      patient.liveness.sent(patient.clock.now());
    }
    expect(patient.silentMs).toBe(4_000);
  });
});

describe('After a block of the event loop (a timer that fired late)', () => {
  it('nothing is lost until 0.9 S after the last request: there is one ping of grace, and its answer counts', () => {
    const patient = new Patient();
    patient.answersAfterMs = 5;
    patient.clock.block(0.9 * S);
    patient.clock.pass(0);
    expect(patient.silentMs).toBeUndefined();
    expect(patient.pings).toEqual([0.9 * S]);
    patient.clock.pass(10 * S);
    expect(patient.silentMs).toBeUndefined();
  });

  it('there was no silence if it ends just behind the deadline: what had arrived by then is read first', () => {
    const patient = new Patient();
    patient.clock.pass(S / 3);
    expect(patient.pings).toHaveLength(1);
    patient.clock.block(S / 3 + 10);
    // Sockets are read behind the timers that are due.
    patient.clock.setTimer(0, () => patient.liveness.heard(patient.clock.now()));
    patient.clock.pass(1);
    expect(patient.silentMs).toBeUndefined();
    patient.clock.pass(S / 2);
    expect(patient.silentMs).toBeUndefined();
    patient.clock.pass(S);
    expect(patient.silentMs).toBeDefined();
  });

  it('the grace lasts a third of S and no longer', () => {
    const patient = new Patient();
    patient.clock.block(0.9 * S);
    patient.clock.pass(S / 3 - 1);
    expect(patient.silentMs).toBeUndefined();
    patient.clock.pass(1);
    expect(patient.silentMs).toBeCloseTo(0.9 * S + S / 3);
  });

  it('nothing is lost if it ends just ahead of the deadline: the ping was late, and so is its answer', () => {
    const patient = new Patient();
    patient.answersAfterMs = 200;
    patient.clock.block((2 * S) / 3 - 50);
    patient.clock.pass(199);
    expect(patient.silentMs).toBeUndefined();
    patient.clock.pass(10 * S);
    expect(patient.silentMs).toBeUndefined();
  });

  it('ahead of the deadline the grace lasts as long as the loop was seen to stand still', () => {
    const patient = new Patient();
    patient.clock.block(S / 3 + 300);
    patient.clock.pass(0);
    // Late by 300 ms once, at a third of S: that is over by two thirds.
    patient.clock.pass(S / 3 - 300);
    expect(patient.silentMs).toBe((2 * S) / 3);

    const late = new Patient();
    late.clock.block((2 * S) / 3 - 50);
    late.clock.pass(S / 3 - 51);
    expect(late.silentMs).toBeUndefined();
    late.clock.pass(100);
    expect(late.silentMs).toBeCloseTo(S - 100);
  });

  it('there is no second grace for the same silence, even when that timer is late, too', () => {
    const patient = new Patient();
    patient.clock.block(0.9 * S);
    patient.clock.pass(0);
    patient.clock.block(S);
    patient.clock.pass(0);
    expect(patient.silentMs).toBeCloseTo(1.9 * S);
    expect(patient.clock.timers).toBe(0);
  });

  it('a byte ends the grace, and the next silence has its own', () => {
    const patient = new Patient();
    patient.clock.block(0.9 * S);
    patient.clock.pass(0);
    patient.liveness.heard(patient.clock.now());
    patient.clock.block(0.9 * S);
    patient.clock.pass(0);
    expect(patient.silentMs).toBeUndefined();
    expect(patient.pings).toHaveLength(2);
  });

  it('a timer that is only a little late is no excuse', () => {
    const patient = new Patient();
    patient.clock.pass(3_999);
    patient.clock.block(100);
    patient.clock.pass(0);
    expect(patient.silentMs).toBe(4_099);
  });
});

describe('While something is held,', () => {
  /** Five ticks: a third of S is less than two of them. */
  const FIFTH = S / 5;

  function holder(heldUntil: number, tickMs = FIFTH): Patient {
    const patient = new Patient(S, tickMs);
    patient.heldUntil = heldUntil;
    // The timer knows of it from the next look on.
    patient.liveness.heard(patient.clock.now());
    return patient;
  }

  it('a connection pings ten times in S, so that silence is noticed in time', () => {
    const patient = holder(100_000);
    patient.answersAfterMs = 10;
    patient.clock.pass(FIFTH + 3 * 600);
    expect(patient.pings).toEqual([1_200, 1_800, 2_400, 3_000]);
  });

  it('a request without an answer for a third of S ends the connection, once a third of S of certainty is left', () => {
    const patient = holder(5_500);
    patient.clock.pass(1_200);
    expect(patient.pings).toEqual([1_200]);
    patient.clock.pass(S / 3 + 299);
    expect(patient.silentMs).toBeUndefined();
    patient.clock.pass(1);
    expect(patient.elapsed).toBe(5_500 - S / 3);
    expect(patient.silentMs).toBe(3_500);
    expect(patient.clock.timers).toBe(0);
  });

  it('a server that pauses for less than a third of S is not left, however little certainty there is', () => {
    const patient = holder(3_300);
    patient.clock.pass(1_200 + S / 3 - 1);
    expect(patient.silentMs).toBeUndefined();
    patient.liveness.heard(patient.clock.now());
    patient.clock.pass(1);
    expect(patient.silentMs).toBeUndefined();
  });

  it('no server is left while more than two ticks of certainty are left: no more is left once the session is offered elsewhere', () => {
    const patient = holder(4_100, 100);
    patient.clock.pass(3_899);
    expect(patient.silentMs).toBeUndefined();
    patient.clock.pass(1);
    expect(patient.silentMs).toBe(3_900);
  });

  it('two thirds of S of silence end it in any case, and as before when the certainty is gone', () => {
    for (const heldUntil of [100_000, 500, -Infinity]) {
      const patient = holder(heldUntil);
      patient.clock.pass((2 * S) / 3 - 1);
      expect(patient.silentMs).toBeUndefined();
      patient.clock.pass(1);
      expect(patient.silentMs).toBe((2 * S) / 3);
    }
  });

  it('silence is counted from the first request after the last byte: what nobody asked for is no silence', () => {
    const patient = holder(3_900);
    patient.clock.pass(1_100);
    patient.liveness.heard(patient.clock.now());
    patient.clock.pass(100 + S / 3 - 1);
    expect(patient.silentMs).toBeUndefined();
    patient.clock.pass(1);
    expect(patient.silentMs).toBe(100 + S / 3);
  });

  it('a blocked event loop is no silence of the server: what has come meanwhile is read first', () => {
    const patient = holder(4_200);
    patient.clock.pass(1_200);
    patient.clock.block(2_500);
    patient.clock.setTimer(0, () => patient.liveness.heard(patient.clock.now()));
    patient.clock.pass(1);
    expect(patient.silentMs).toBeUndefined();
    expect(patient.pings.at(-1)).toBe(3_700);
  });

  it('nobody waits for what was let go meanwhile', () => {
    const patient = holder(3_300);
    patient.clock.pass(1_200);
    patient.heldUntil = undefined;
    patient.clock.pass(2_799);
    expect(patient.silentMs).toBeUndefined();
    patient.clock.pass(1);
    expect(patient.silentMs).toBe(4_000);
  });
});
