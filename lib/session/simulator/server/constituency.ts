import type { PeerLink } from './peer-link.js';

/** The view that a leader has of its ensemble. */
export interface Constituency {
  readonly serverCount: number;
  readonly commitsAreHeld: boolean;
  drawPeerLatency(): number;
  onPeerLink(link: PeerLink): void;
  onServing(): void;
}
