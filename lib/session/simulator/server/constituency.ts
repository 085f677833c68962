import type { PeerLink } from './peer-link.js';

/** What the leader needs to know of its ensemble. */
export interface Constituency {
  readonly serverCount: number;
  readonly commitsAreHeld: boolean;
  drawPeerLatency(): number;
  onPeerLink(link: PeerLink): void;
  onServing(): void;
}
