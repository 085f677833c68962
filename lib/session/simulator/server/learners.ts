import type { ToFollower } from './messages.js';
import type { PeerLink } from './peer-link.js';

/** A follower as its leader sees it. */
export interface Learner {
  readonly serverId: number;
  readonly link: PeerLink;
  /** Whether the follower has taken over the leader's state. */
  isFollowing: boolean;
  /** The leader gives the follower up when it has heard nothing from it by this tick. */
  deadlineTick: number;
}

/** The servers that follow a leader or are about to, with their deadlines in the leader's ticks. */
export class Learners {
  readonly #learners = new Set<Learner>();
  readonly #syncLimitTicks: number;
  readonly #initLimitTicks: number;
  #tick = 0;

  constructor(syncLimitTicks: number, initLimitTicks: number) {
    this.#syncLimitTicks = syncLimitTicks;
    this.#initLimitTicks = initLimitTicks;
  }

  get followingCount(): number {
    return [...this.#learners].filter((learner) => learner.isFollowing).length;
  }

  add(serverId: number, link: PeerLink): Learner {
    const learner = { serverId, link, isFollowing: false, deadlineTick: this.#tick + this.#initLimitTicks };
    this.#learners.add(learner);
    return learner;
  }

  has(learner: Learner): boolean {
    return this.#learners.has(learner);
  }

  remove(learner: Learner): void {
    this.#learners.delete(learner);
  }

  heardOf(learner: Learner): void {
    learner.deadlineTick = Math.max(learner.deadlineTick, this.#tick + this.#syncLimitTicks);
  }

  follows(learner: Learner): void {
    learner.isFollowing = true;
    learner.deadlineTick = this.#tick + this.#syncLimitTicks;
  }

  /** Ends a tick, and gives up learners that have been silent for too long. */
  endTick(): void {
    this.#tick += 1;
    for (const learner of [...this.#learners]) {
      if (this.#tick <= learner.deadlineTick) continue;
      this.remove(learner);
      learner.link.closeAtLeader();
    }
  }

  broadcast(message: ToFollower): void {
    for (const { link } of this.#learners) link.toFollower.send(message);
  }

  tellFollowing(message: ToFollower): void {
    for (const { isFollowing, link } of this.#learners) {
      if (isFollowing) link.toFollower.send(message);
    }
  }

  closeAll(): void {
    for (const { link } of this.#learners) link.closeAtLeader();
    this.#learners.clear();
  }
}
