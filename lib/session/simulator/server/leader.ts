import type { Timer } from '../../../lock/clock.js';
import { OK } from '../tree/error-numbers.js';
import { reapableContainers } from '../tree/prepare.js';
import { CommitQueue } from './commit-queue.js';
import type { Constituency } from './constituency.js';
import { Follower } from './follower.js';
import { Learners, type Learner } from './learners.js';
import type { ToLeader, WriteRequest } from './messages.js';
import { PeerLink } from './peer-link.js';
import { Proposals } from './proposals.js';
import type { Role } from './role.js';
import type { SimulatedServer } from './server.js';
import { SessionTracker } from './session-tracker.js';

/** The leader's part: it decides and proposes writes, commits what a majority has logged, and expires sessions. */
export class Leader implements Role {
  readonly name = 'leading';
  isServing = false;
  readonly #server: SimulatedServer;
  readonly #constituency: Constituency;
  readonly #epoch: number;
  readonly #proposals: Proposals;
  readonly #tracker: SessionTracker;
  readonly #learners: Learners;
  readonly #queue: CommitQueue;
  #isHalfTick = false;
  #isStopped = false;
  #containerCheck: Timer | undefined;

  /** @param epoch undefined where this server alone is the ensemble: it has no epochs */
  constructor(server: SimulatedServer, constituency: Constituency, epoch: number | undefined) {
    this.#server = server;
    this.#constituency = constituency;
    this.#epoch = epoch ?? 0;
    this.#learners = new Learners(server.settings.syncLimitTicks, server.settings.initLimitTicks);
    this.#queue = new CommitQueue(constituency.serverCount);
    // The log of the best candidate holds everything that a majority may have logged. It counts as committed from here
    // on.
    for (const transaction of [...server.log]) server.carryOut(transaction);
    if (epoch !== undefined) {
      server.currentEpoch = epoch;
      server.tree.lastZxid = BigInt(epoch) << 32n;
    }
    this.#proposals = new Proposals(server.tree);
    this.#tracker = new SessionTracker(server.host, server.settings.tickMs, (sessionId) => this.#expire(sessionId));
  }

  /** Starts the leader's work. It is separate from the constructor because the server must know its role by then. */
  begin(): void {
    const { host, settings } = this.#server;
    if (this.#constituency.serverCount > 1) {
      host.setTimer(settings.initLimitTicks * settings.tickMs, () => {
        if (!this.#isStopped && !this.isServing) this.#server.look();
      });
      host.setTimer(settings.tickMs / 2, () => this.#onHalfTick());
    }
    this.#armContainerCheck();
    this.#serveOnceFollowed();
  }

  attach(follower: SimulatedServer): void {
    const { timeline, host, settings } = this.#server;
    const followerHost = follower.host;
    const role = new Follower(follower, settings);
    follower.acceptedEpoch = Math.max(follower.acceptedEpoch, this.#epoch);
    const link: PeerLink = new PeerLink(
      this.#server.id,
      follower.id,
      { timeline, drawDelayMs: () => this.#constituency.drawPeerLatency() },
      {
        atLeader: (messages) => host.deliver(() => this.#onMessages(learner, messages)),
        atFollower: (messages) => followerHost.deliver(() => role.onMessages(messages)),
      },
    );
    const learner = this.#learners.add(follower.id, link);
    this.#constituency.onPeerLink(link);
    role.follow(link);
    const proposals = this.#queue.transactions;
    link.toFollower.send({ kind: 'newLeader', epoch: this.#epoch, tree: this.#server.tree.copy(), proposals });
  }

  submit(request: WriteRequest): void {
    this.#decide(request, this);
  }

  sync(requestId: number): void {
    // A leader answers a sync at once: nothing that it has committed is ever ahead of it.
    this.#server.synced(requestId);
  }

  revalidate(requestId: number, sessionId: bigint, timeoutMs: number): void {
    const valid = this.#tracker.touch(sessionId, timeoutMs);
    if (valid) this.#tracker.setOwner(sessionId, this);
    this.#server.revalidated(requestId, valid);
  }

  touch(sessionId: bigint, timeoutMs: number): void {
    this.#tracker.touch(sessionId, timeoutMs);
  }

  check(sessionId: bigint): number {
    return this.#tracker.check(sessionId, this);
  }

  onSessionClosed(sessionId: bigint): void {
    this.#tracker.remove(sessionId);
  }

  /** Expires the session as if it had been silent for its time-out. */
  expire(sessionId: bigint): void {
    this.#tracker.setClosing(sessionId);
    this.#expire(sessionId);
  }

  jumpSequence(path: string, next: number): void {
    // The node's removal may be proposed already, and not yet committed.
    const node = this.#proposals.tree.nodes.get(path) ?? this.#server.tree.existing(path);
    node.creates = next;
  }

  reapContainers(): void {
    for (const path of reapableContainers(this.#server.tree)) {
      this.#propose({ origin: undefined, sessionId: 0n, identities: [], write: { op: 'reap', path } }, OK);
    }
  }

  commitWhatIsLogged(): void {
    while (!this.#constituency.commitsAreHeld) {
      const transaction = this.#queue.takeCommittable();
      if (transaction === undefined) return;
      this.#learners.broadcast({ kind: 'commit', zxid: transaction.zxid });
      this.#server.carryOut(transaction);
      this.#queue.answerSyncs(transaction.zxid);
    }
  }

  stop(): void {
    this.#isStopped = true;
    this.isServing = false;
    this.#tracker.stop();
    this.#containerCheck?.cancel();
    this.#learners.closeAll();
  }

  #onMessages(learner: Learner, messages: readonly ToLeader[]): void {
    for (const message of messages) {
      if (this.#isStopped || !this.#learners.has(learner)) return;
      this.#learners.heardOf(learner);
      this.#onMessage(learner, message);
    }
  }

  #onMessage(learner: Learner, message: ToLeader): void {
    switch (message.kind) {
      case 'following':
        this.#learners.follows(learner);
        if (this.isServing) learner.link.toFollower.send({ kind: 'upToDate' });
        else this.#serveOnceFollowed();
        return;
      case 'ack':
        this.#acked(learner.serverId, message.zxid);
        return;
      case 'write':
        this.#decide(message.request, learner);
        return;
      case 'sync':
        this.#queue.sync(() => learner.link.toFollower.send({ kind: 'synced', requestId: message.requestId }));
        return;
      case 'revalidate': {
        const valid = this.#tracker.touch(message.sessionId, message.timeoutMs);
        if (valid) this.#tracker.setOwner(message.sessionId, learner);
        learner.link.toFollower.send({ kind: 'revalidated', requestId: message.requestId, valid });
        return;
      }
      case 'touched':
        for (const [sessionId, timeoutMs] of message.sessions) this.#tracker.touch(sessionId, timeoutMs);
        return;
      case 'closed':
        this.#learners.remove(learner);
    }
  }

  #serveOnceFollowed(): void {
    if (this.isServing || !this.#hasMajority()) return;
    this.isServing = true;
    // A new leader does not know how long its sessions have been silent, so each gets its whole time-out.
    for (const [sessionId, timeoutMs] of this.#server.tree.sessions)
      this.#tracker.track(sessionId, timeoutMs, undefined);
    this.#learners.tellFollowing({ kind: 'upToDate' });
    this.#constituency.onServing();
  }

  #hasMajority(): boolean {
    return this.#learners.followingCount + 1 > this.#constituency.serverCount / 2;
  }

  #decide(request: WriteRequest, owner: unknown): void {
    const { write, sessionId } = request;
    switch (write.op) {
      case 'createSession':
        this.#tracker.track(sessionId, write.timeoutMs, owner);
        this.#propose(request, OK);
        return;
      case 'closeSession':
        this.#tracker.setClosing(sessionId);
        this.#propose(request, OK);
        return;
      case 'single':
      case 'multi':
      case 'reap':
        this.#propose(request, this.#tracker.check(sessionId, owner));
    }
  }

  #propose(request: WriteRequest, sessionError: number): void {
    const transaction = this.#proposals.propose(request, sessionError, this.#server.timeline.wallNow());
    this.#queue.push(transaction);
    this.#learners.broadcast({ kind: 'proposal', transaction });
    this.#server.append(transaction, () => this.#acked(this.#server.id, transaction.zxid));
  }

  #acked(serverId: number, zxid: bigint): void {
    if (this.#isStopped) return;
    this.#queue.logged(zxid, serverId);
    this.commitWhatIsLogged();
  }

  #onHalfTick(): void {
    if (this.#isStopped) return;
    // Followers are pinged at every half tick. At whole ticks a leader without a majority gives up.
    const { host, settings } = this.#server;
    this.#isHalfTick = !this.#isHalfTick;
    if (!this.#isHalfTick) {
      this.#learners.endTick();
      if (this.isServing && !this.#hasMajority()) return this.#server.look();
    }
    this.#learners.broadcast({ kind: 'ping' });
    host.setTimer(settings.tickMs / 2, () => this.#onHalfTick());
  }

  #armContainerCheck(): void {
    this.#containerCheck = this.#server.host.setTimer(this.#server.settings.containerCheckMs, () => {
      this.#armContainerCheck();
      this.reapContainers();
    });
  }

  #expire(sessionId: bigint): void {
    this.#propose({ origin: undefined, sessionId, identities: [], write: { op: 'closeSession' } }, OK);
  }
}
