import { LockConfigurationError } from '../../lock/errors.js';
import type { Refusal } from '../../queue/decide.js';
import type { LockRequest } from '../contender.js';

/** The error for one that cannot stand in a queue with what is in there. */
export function explainRefusal({ because, node }: Refusal, { key, mode }: LockRequest): LockConfigurationError {
  switch (because) {
    case 'counter spent':
      return new LockConfigurationError(
        `The sequence counter of ${key} is used up (${node.name}): ZooKeeper no longer tells who came first. ` +
          'Delete the parent node once nobody queues there, and it starts again',
        key,
      );
    case 'foreign family':
      return new LockConfigurationError(
        `Another kind of client queues on ${key} as ${node.name}, and would not notice a contender of mode ${mode}. ` +
          'With foreign clients a key belongs to one family: exclusive locks, or read and write locks',
        key,
      );
  }
}
