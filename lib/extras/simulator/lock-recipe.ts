import { filter, firstValueFrom } from 'rxjs';
import { type LockService, sessionAccess } from '../../engine/lock-service.js';
import { LockConfigurationError } from '../../lock/errors.js';
import { isUp } from '../../session/connection-state.js';
import type { CheckCall } from './driven-lock-service.js';

/**
 * The recipe of a ZooKeeper lock by hand, one step per call, over the session of one client. It is for lessons, and for
 * contenders that behave as no lock service does. They join the same queues as the contenders of `locks`.
 */
export class LockRecipe {
  readonly #locks: LockService;
  readonly #check: CheckCall;

  /** @internal */
  constructor(locks: LockService, check: CheckCall) {
    this.#locks = locks;
    this.#check = check;
  }

  /**
   * Creates an ephemeral sequential node under the key, and the key's own nodes where they are missing.
   * @returns its path, such as `/locks/a/lock-0000000000`, which stands in the queue until it is removed or the session
   * ends
   */
  async createEphemeralSequential(key: string): Promise<string> {
    this.#check('createEphemeralSequential');
    if (typeof key !== 'string' || !/^(\/[^/]+)+$/.test(key)) {
      throw new LockConfigurationError(`createEphemeralSequential: must be given an absolute path such as '/locks/a'`);
    }
    const { session, namespace } = this.#locks[sessionAccess]();
    const path = namespace + key;
    const names = path.slice(1).split('/');
    const parents = names.map((_, index) => `/${names.slice(0, index + 1).join('/')}`);
    await this.#whenUp();
    // Parents that exist already answer with an error, which is ignored. The create below tells if one is still
    // missing.
    await session.batch(parents.map((parent) => ({ op: 'create' as const, path: parent, mode: 'container' as const })));
    const [created] = await session.batch([{ op: 'create', path: `${path}/lock-`, mode: 'ephemeral-sequential' }]);
    if (created instanceof Error) throw created;
    return created.path;
  }

  /** Whether this node is the first in its queue, and so holds the lock. A missing node holds nothing. */
  async isLockAcquired(nodePath: string): Promise<boolean> {
    this.#check('isLockAcquired');
    return (await this.#state(nodePath))?.kind === 'holds';
  }

  /**
   * Watches the one node that this node waits for, and calls `onDeleted` with its path when anybody deletes it. Then it
   * is time to look again.
   * @returns the watched path; undefined where this node waits for no other, and nothing is watched
   */
  async watchPredecessor(nodePath: string, onDeleted: (deletedPath: string) => void): Promise<string | undefined> {
    this.#check('watchPredecessor');
    const state = await this.#state(nodePath);
    if (state?.kind !== 'waits') return undefined;
    const path = `${parentOf(nodePath)}/${state.behind}`;
    const { session } = this.#locks[sessionAccess]();
    const set = async () => (await session.batch([{ op: 'get', path, watch: { onWatchEvent } }]))[0];
    const onWatchEvent = ({ type }: { readonly type: string }): void => {
      if (type === 'deleted') onDeleted(path);
      // A change of the data also uses up a one-shot watch. Where it cannot be set again, the node or the session is
      // gone.
      if (type !== 'changed') return;
      void set().then((found) => {
        if (found instanceof Error) onDeleted(path);
      });
    };
    const found = await set();
    if (!(found instanceof Error)) return path;
    if (found.code !== 'NO_NODE') throw found;
    // The node went away between the look and the watch, so now another node is ahead, or none.
    return this.watchPredecessor(nodePath, onDeleted);
  }

  async #state(nodePath: string) {
    const parent = parentOf(nodePath);
    const { session, writerState } = this.#locks[sessionAccess]();
    await this.#whenUp();
    // The sync keeps a server that lags from showing an old queue.
    const [, listed] = await session.batch([
      { op: 'sync', path: parent },
      { op: 'list', path: parent },
    ]);
    if (listed instanceof Error) {
      if (listed.code === 'NO_NODE') return undefined;
      throw listed;
    }
    const name = nodePath.slice(parent.length + 1);
    return listed.children.includes(name) ? writerState(listed.children, name) : undefined;
  }

  /**
   * Waits for the connection, which a client begins when it is made. A client that was closed gets an error from its
   * session.
   */
  async #whenUp(): Promise<void> {
    await firstValueFrom(this.#locks.connectionState$.pipe(filter(isUp)), { defaultValue: undefined });
  }
}

function parentOf(nodePath: string): string {
  return nodePath.slice(0, Math.max(1, nodePath.lastIndexOf('/')));
}
