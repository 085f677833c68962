import { LockLostError } from '../lock/errors.js';
import type { LossReason } from '../lock/events.js';
import type { SessionError } from '../session/errors.js';

/** @param heartbeat what the servers last answered to the session's heartbeat, if they refused it */
export function lossError(
  reason: LossReason,
  key: string,
  heldMs: number,
  heartbeat: SessionError | undefined,
): LockLostError {
  const cause = reason === 'uncertain' ? heartbeat : undefined;
  const text = describeLoss(reason, key, heldMs);
  if (cause === undefined) return new LockLostError(text, key);
  return new LockLostError(`${text}; ${describeRefusedHeartbeat(cause)}`, key, { cause });
}

/** The write that proves that the session lives goes to a node of its own, beside those of all who share the namespace. */
export function describeRefusedHeartbeat({ message }: SessionError): string {
  return (
    `the servers refuse the session's heartbeat (${message}). Where another application has made that node with other ` +
    'credentials, use the same ones, or a namespace of your own'
  );
}

function describeLoss(reason: LossReason, key: string, heldMs: number): string {
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
