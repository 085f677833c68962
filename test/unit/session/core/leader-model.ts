/**
 * A leader and the one follower that a client talks to, as far as the life of a session goes: the leader ends the session
 * S after it last heard of it, and hears of a request when it asks the follower, at least once in half a tick. Requests may
 * be stuck on their way to the follower for as long as they like, in order. At some moment the follower is cut off: from
 * then on nothing reaches the leader, while the follower goes on answering all but writes.
 */
export interface Traffic {
  readonly kind: 'read' | 'write';
  /** After the request before it. */
  readonly afterMs: number;
  /** How long it needs to the follower, unless one before it needs longer. */
  readonly delayMs: number;
  /** From the follower, and for a write from the commit, back to the client. */
  readonly replyMs: number;
}

export interface World {
  readonly timeoutMs: number;
  readonly tickMs: number;
  readonly cutAt: number;
  /** When, within half a tick, the leader asks the follower for the first time. */
  readonly pingPhase: number;
  readonly traffic: readonly Traffic[];
}

export interface Answer {
  readonly kind: 'read' | 'write';
  readonly sentAt: number;
  readonly answeredAt: number;
}

export interface Course {
  /** In the order in which the client reads them. */
  readonly answers: readonly Answer[];
  /** When the leader ends the session if the client falls silent at this instant. */
  readonly livesUntil: (silentFrom: number) => number;
}

/** @returns what the client sees and what the leader grants, for a session created at 0 */
export function play({ timeoutMs, tickMs, cutAt, pingPhase, traffic }: World): Course {
  const answers: Answer[] = [];
  const touches: { readonly sentAt: number; readonly heardAt: number }[] = [];
  let sentAt = 0;
  let arrivedAt = 0;
  let answeredAt = 0;
  for (const { kind, afterMs, delayMs, replyMs } of traffic) {
    sentAt += afterMs;
    arrivedAt = Math.max(arrivedAt, sentAt + delayMs);
    const heardAt = nextPing(arrivedAt, pingPhase, tickMs / 2);
    if (heardAt < cutAt) touches.push({ sentAt, heardAt });
    // Behind a write that cannot commit, the follower holds back every answer.
    if (kind === 'write' && arrivedAt >= cutAt) break;
    answeredAt = Math.max(answeredAt, arrivedAt + replyMs);
    answers.push({ kind, sentAt, answeredAt });
  }
  const livesUntil = (silentFrom: number): number => {
    let until = timeoutMs;
    for (const touch of touches) {
      if (touch.sentAt <= silentFrom && touch.heardAt <= until) until = touch.heardAt + timeoutMs;
    }
    return until;
  };
  return { answers, livesUntil };
}

function nextPing(at: number, phase: number, everyMs: number): number {
  return phase + Math.ceil((at - phase) / everyMs) * everyMs;
}
