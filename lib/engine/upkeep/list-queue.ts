import { NUMBERED_AFTER } from '../../queue/node-name.js';
import { list, type ListRequest, type Watcher } from '../../session/requests.js';

/** The names in a queue, perhaps with others among them. The keys below a key are children of its node, too: these are read past. */
export function listQueue(queuePath: string, watch?: Watcher): ListRequest {
  return list(queuePath, watch, NUMBERED_AFTER);
}
