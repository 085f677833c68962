import type { ClientDescription } from '../../../lock/snapshot.js';
import type { SeenContender } from '../look/seen-key.js';

/** A logical caller, in whichever process, as the graph knows it. */
export interface Caller {
  readonly id: string;
  readonly name: string;
  readonly client: ClientDescription | undefined;
}

/**
 * Finds the caller behind each contender of a queue. All contenders of one owner are one caller. One that does not say whose it is, is a
 * caller of its own: a session may have many threads behind it.
 */
export function callersOf(contenders: readonly SeenContender[]): Map<SeenContender, Caller> {
  const upgraders = new Map<string | undefined, SeenContender>();
  for (const contender of contenders)
    if (contender.node.mode === 'upgradeable') upgraders.set(contender.node.id, contender);
  return new Map(
    contenders.map((contender) => {
      // An upgrader's second node names the readers that are inside, and not its owner.
      const isIntent = contender.state === 'intent';
      return [contender, callerOf((isIntent && upgraders.get(contender.node.id)) || contender)];
    }),
  );
}

function callerOf({ snapshot: { client, nodePath, sessionId } }: SeenContender): Caller {
  if (client === undefined) return { id: `node ${nodePath}`, name: `a client of session ${sessionId}`, client };
  return { id: `owner ${client.owner}`, name: nameOf(client), client };
}

/** Label, host and process of a client, as far as they are known. */
export function nameOf({ label, host, pid }: Pick<ClientDescription, 'label' | 'host' | 'pid'>): string {
  const parts = [label, host, pid === undefined ? undefined : `pid ${pid}`];
  return parts.filter((part) => part !== undefined).join(', ') || 'somebody who does not say';
}
