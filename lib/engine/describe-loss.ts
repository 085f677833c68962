import type { LossReason } from '../lock/events.js';

/** The message of a `LockLostError`. */
export function describeLoss(reason: LossReason, key: string, heldMs: number): string {
  const after = `The lock ${key} was lost after ${Math.round(heldMs)} ms: `;
  switch (reason) {
    case 'session-ended':
      return `${after}the servers ended the session (nothing was heard of this process for a session time-out)`;
    case 'uncertain':
      return `${after}nothing has proved for too long that the session lives, so another may be about to hold it`;
    case 'suspended':
      return `${after}the connection to ZooKeeper is down, and onSuspended is 'stop'`;
    case 'removed':
      return `${after}somebody removed its node (an operator, or a tool)`;
    case 'lease-ended':
      return `${after}its leaseMs has passed without extend()`;
    case 'closed':
      return `${after}the lock service was closed`;
    case 'sibling-lost':
      return `${after}another lock that was taken together with it was lost`;
  }
}
