import { Channel } from '../network/channel.js';
import type { Timeline } from '../time/timeline.js';
import type { ToFollower, ToLeader } from './messages.js';

/** The two directions between a follower and its leader. */
export type PeerDirection = 'to-leader' | 'to-follower';

/** How long messages are on their way, and by which time. */
interface PeerWay {
  readonly timeline: Timeline;
  readonly drawDelayMs: () => number;
}

/** Who is told of the messages that arrive. */
interface PeerEnds {
  readonly atLeader: (messages: readonly ToLeader[]) => void;
  readonly atFollower: (messages: readonly ToFollower[]) => void;
}

/** The connection of a follower to its leader. */
export class PeerLink {
  readonly toLeader: Channel<ToLeader>;
  readonly toFollower: Channel<ToFollower>;
  isOpen = true;

  constructor(
    readonly leaderId: number,
    readonly followerId: number,
    { timeline, drawDelayMs }: PeerWay,
    { atLeader, atFollower }: PeerEnds,
  ) {
    this.toLeader = new Channel(timeline, drawDelayMs, atLeader);
    this.toFollower = new Channel(timeline, drawDelayMs, atFollower);
  }

  /** Whether the link is closed and both ends have learned it. */
  get isFinished(): boolean {
    return !this.isOpen && this.toLeader.pending === 0 && this.toFollower.pending === 0;
  }

  /** Holds back each direction by itself. Messages in a held direction wait there. */
  hold(held: Readonly<Record<PeerDirection, boolean>>): void {
    this.toLeader.hold(held['to-leader']);
    this.toFollower.hold(held['to-follower']);
  }

  /** Closes one end. The other end learns of it behind what was sent before. */
  closeAtLeader(): void {
    this.isOpen = false;
    this.toLeader.cut();
    this.toFollower.send({ kind: 'closed' });
  }

  closeAtFollower(): void {
    this.isOpen = false;
    this.toFollower.cut();
    this.toLeader.send({ kind: 'closed' });
  }
}
