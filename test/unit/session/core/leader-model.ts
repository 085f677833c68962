/**
 * A leader and the one follower that a client talks to, as far as the life of a session goes. The leader pings the follower
 * every half tick; the follower's answer tells it of the sessions that were heard of since the last one; it ends a session
 * S after it last heard of it. Each way between the two keeps its order, and may stall for any time. At some moment the
 * follower is cut off: from then on nothing reaches the other side, while the follower goes on answering reads.
 */
export type Kind = 'read' | 'sync' | 'write';

export interface Traffic {
  readonly kind: Kind;
  /** After the request before it, or after the answer to that. */
  readonly afterMs: number;
  readonly waitsForAnswer: boolean;
  /** How long it needs to the follower, unless one before it needs longer. */
  readonly delayMs: number;
  /** From the follower back to the client. */
  readonly replyMs: number;
}

export interface Stall {
  readonly startsAt: number;
  readonly lastsMs: number;
}

export interface World {
  readonly timeoutMs: number;
  readonly tickMs: number;
  readonly cutAt: number;
  /** When, within half a tick, the leader pings the follower for the first time. */
  readonly pingPhase: number;
  readonly stallsToFollower: readonly Stall[];
  readonly stallsToLeader: readonly Stall[];
  readonly traffic: readonly Traffic[];
}

export interface Answer {
  readonly kind: Kind;
  readonly sentAt: number;
  /** How many answers had come by then. */
  readonly sentAfter: number;
  readonly answeredAt: number;
}

export interface Course {
  /** In the order in which the client reads them. */
  readonly answers: readonly Answer[];
  /** When the leader ends the session if the client falls silent at this instant. */
  readonly livesUntil: (silentFrom: number) => number;
}

/** @returns what the client sees and what the leader grants, for a session created at 0 */
export function play(world: World): Course {
  const { timeoutMs, traffic } = world;
  const toLeader = wayWith(world.stallsToLeader, world.cutAt);
  const toFollower = wayWith(world.stallsToFollower, world.cutAt);
  const answers: Answer[] = [];
  const touches: { readonly sentAt: number; readonly heardAt: number }[] = [];
  let sentAt = 0;
  let arrivedAt = 0;
  let answeredAt = 0;
  for (const { kind, afterMs, waitsForAnswer, delayMs, replyMs } of traffic) {
    sentAt = (waitsForAnswer ? Math.max(sentAt, answeredAt) : sentAt) + afterMs;
    arrivedAt = Math.max(arrivedAt, sentAt + delayMs);
    touches.push({ sentAt, heardAt: heardAtLeader(world, arrivedAt, toLeader, toFollower) });
    const readyAt = kind === 'read' ? arrivedAt : toFollower(toLeader(arrivedAt));
    // Behind a write that cannot commit, the follower holds back every answer.
    if (readyAt === Infinity) break;
    const sentAfter = answers.filter((earlier) => earlier.answeredAt <= sentAt).length;
    answeredAt = Math.max(answeredAt, readyAt + replyMs);
    answers.push({ kind, sentAt, sentAfter, answeredAt });
  }
  const livesUntil = (silentFrom: number): number => {
    let until = timeoutMs;
    for (const touch of [...touches].sort((one, other) => one.heardAt - other.heardAt)) {
      if (touch.sentAt <= silentFrom && touch.heardAt <= until) until = Math.max(until, touch.heardAt + timeoutMs);
    }
    return until;
  };
  return { answers, livesUntil };
}

/** When what is sent at an instant arrives: at the end of the stall that it falls into; never, once the way is cut. */
function wayWith(stalls: readonly Stall[], cutAt: number): (sentAt: number) => number {
  const byStart = [...stalls].sort((one, other) => one.startsAt - other.startsAt);
  return (sentAt) => {
    let arrivesAt = sentAt;
    for (const { startsAt, lastsMs } of byStart) {
      if (startsAt <= arrivesAt) arrivesAt = Math.max(arrivesAt, startsAt + lastsMs);
    }
    return arrivesAt < cutAt ? arrivesAt : Infinity;
  };
}

/** The first ping that reaches the follower after the request has takes the news along. */
function heardAtLeader(
  { pingPhase, tickMs, cutAt }: World,
  arrivedAt: number,
  toLeader: (sentAt: number) => number,
  toFollower: (sentAt: number) => number,
): number {
  if (arrivedAt >= cutAt) return Infinity;
  const everyMs = tickMs / 2;
  // A ping that was sent before the request arrived may be late, and arrive after it.
  for (let pingedAt = pingPhase; pingedAt < cutAt && pingedAt < 1e6; pingedAt += everyMs) {
    const reachedAt = toFollower(pingedAt);
    if (reachedAt === Infinity) return Infinity;
    if (reachedAt >= arrivedAt) return toLeader(reachedAt);
  }
  return Infinity;
}
