import { Heartbeat } from '../../../../lib/session/core/heartbeat.js';
import { type Proof, proofBy } from '../../../../lib/session/core/link.js';
import { ProofOfLife } from '../../../../lib/session/core/proof-of-life.js';
import { SessionError, type SessionErrorCode } from '../../../../lib/session/errors.js';
import type { Reply, Request } from '../../../../lib/session/requests.js';
import { ManualClock } from '../../support/manual-clock.js';
import { stat } from '../../support/session-world.js';

export const S = 10_000;
export const TICK = 2_000;

/** A heartbeat over a session that pings every tick; the answers are the test's. */
export class HeartbeatRig {
  readonly clock = new ManualClock(0);
  readonly proof = new ProofOfLife(S, TICK, 0);
  readonly heartbeat: Heartbeat;
  /** What was written when. */
  readonly writes: { at: number; requests: string[] }[] = [];
  /** What vouched for a write when. */
  readonly syncs: { at: number; requests: string[] }[] = [];
  #answers = 0;
  latencyMs = 10;
  sessionId = 0x1234n;
  /** How the servers refuse a request, if they do. */
  refuse: (request: Request) => SessionErrorCode | undefined = () => undefined;

  constructor(namespace = '') {
    this.heartbeat = new Heartbeat(this.clock, namespace, (requests) => this.#batch(requests));
  }

  start(): void {
    this.heartbeat.start({ proof: this.proof, sessionId: this.sessionId });
  }

  get writtenAt(): number[] {
    return this.writes.map(({ at }) => at);
  }

  get isCertain(): boolean {
    return this.proof.certainUntil > this.clock.now();
  }

  /** A ping, or a read, or a write of the session's own, answered at once. */
  exchange(committed = false): void {
    const now = this.clock.now();
    this.#answer(now, this.#answers, now, committed ? 'committed' : 'nothing');
  }

  /** Lets time pass with a ping each tick. */
  async advance(ms: number): Promise<void> {
    for (let left = ms; left > 0; left -= TICK) {
      await this.clock.advance(Math.min(left, TICK));
      this.exchange();
    }
  }

  async #batch(requests: Request[]): Promise<(Reply | SessionError)[]> {
    const sentAt = this.clock.now();
    const sentAfter = this.#answers;
    const sent = requests.map((request) => `${request.op} ${'path' in request ? request.path : ''}`);
    (requests[0]?.op === 'sync' ? this.syncs : this.writes).push({ at: sentAt, requests: sent });
    await new Promise<void>((resolve) => this.clock.setTimer(this.latencyMs, resolve));
    const answeredAt = this.clock.now();
    return requests.map((request) => {
      const code = this.refuse(request);
      this.#answer(sentAt, sentAfter, answeredAt, code === undefined ? proofBy(request) : 'nothing');
      return code === undefined ? stat() : new SessionError(code, `refused: ${code}`);
    });
  }

  #answer(sentAt: number, sentAfter: number, answeredAt: number, proof: Proof): void {
    this.#answers += 1;
    const passage = { sentAt, sentAfter, answer: this.#answers };
    this.proof.answered(sentAt, answeredAt);
    if (proof === 'committed') this.proof.committed(passage, answeredAt);
    else if (proof === 'passed') this.proof.passed(passage, answeredAt);
    this.heartbeat.answered(sentAt, proof);
  }
}
