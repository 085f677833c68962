import { type LockService, type SessionAccess, sessionAccess } from '../../engine/lock-service.js';
import { LockConfigurationError } from '../../lock/errors.js';
import type { LockHandle } from '../../lock/handle.js';
import { InTurn } from '../../lock/in-turn.js';
import { nativeRefusal } from '../../session/native-limits.js';
import { checkFunction, checkSettings } from '../checks.js';
import type { FenceSettings } from '../fence.js';
import { checkRoot, dataBytes, dataPath, refuseBelowRoot } from './data-path.js';
import { type ExpectedVersion, GuardedNode } from './guarded-node.js';
import { CallsAround } from '../calls-around.js';
import { type MakeContent, readMakeWrite, type Updatable } from '../update-loop.js';
import { PatientLink } from '../../session/patient-link.js';
import { type LockTicket, rightOf } from './ticket.js';
import { ZnodeConflictError } from '../errors.js';

/** A lock that is held, or its ticket in a process that was handed it. */
export type ZnodeFence = LockHandle | LockTicket;

export interface FencedZnodesOptions extends FenceSettings {
  /** Injected, or made by `createLockService`. The data goes over its connection, under its namespace. */
  readonly locks: LockService;
  /**
   * Where the data is, under the namespace: `/settings` keeps `prices` as `write('/prices', ...)`. No lock of any process may
   * have its key there: the servers remove the nodes of locks, and those above them, when they have stood empty.
   */
  readonly root: string;
}

export interface ZnodeValue {
  readonly data: Buffer;
  /** Counts the writes since the node was made; `write` and `remove` take it back. */
  readonly version: number;
}

/** The time for an answer where the lock service does not wait for a busy lock at all (`waitMs: 0`). */
const ANSWER_WITHIN_MS = 15_000;

/**
 * Refuses stale writers of data that is kept in ZooKeeper, next to the locks. There is no mark to compare: each write is
 * a transaction that begins with "the contender's node is still there". As long as it is, the servers have given the
 * lock to nobody else, and the two come from the same servers in the same order.
 */
export class FencedZnodes {
  readonly #locks: LockService;
  readonly #root: string;
  readonly #settings: FenceSettings;
  /** Updates of one path go one after the other, so that they do not undo each other's reads. */
  readonly #turns = new InTurn();
  readonly #updatesAround = new CallsAround();

  /** @throws LockConfigurationError */
  constructor(options: FencedZnodesOptions) {
    checkSettings('FencedZnodes', options, ['locks', 'root']);
    const { locks, root, ...settings } = options;
    checkRoot(root);
    if (settings.keys !== undefined && settings.lockKey === undefined) {
      throw new LockConfigurationError('FencedZnodes: with keys, say with lockKey which lock protects which path');
    }
    this.#locks = locks;
    this.#root = root;
    this.#settings = settings;
  }

  /**
   * Makes sure, at the servers, that the lock is still held, and that what is read here afterwards is not older. No older
   * holder can write any more: its node is gone.
   * @throws StaleFencingTokenError
   */
  async claim(path: string, fence: ZnodeFence): Promise<void> {
    const node = await this.#begin(path, fence);
    await node.claim();
  }

  /** Reads what the leader has; undefined where there is no such node. */
  async read(path: string): Promise<ZnodeValue | undefined> {
    const { access, fullPath } = this.#place(path);
    const found = await this.#link(access, path).read(fullPath);
    return found === undefined ? undefined : { data: Buffer.from(found.data), version: found.stat.version };
  }

  /**
   * Writes the node, and makes it, with its parents, where it is missing.
   * @param options the version that was read; 'absent': only make it
   * @returns the version that the node has now
   * @throws StaleFencingTokenError, ZnodeConflictError, LockUnavailableError (its text says where the outcome is unknown)
   */
  async write(
    path: string,
    data: string | Uint8Array,
    fence: ZnodeFence,
    { version }: { readonly version?: ExpectedVersion } = {},
  ): Promise<number> {
    const bytes = dataBytes(path, data);
    const node = await this.#begin(path, fence);
    return node.write(bytes, version);
  }

  /** @returns whether there was one. @throws as `write` does */
  async remove(path: string, fence: ZnodeFence, { version }: { readonly version?: number } = {}): Promise<boolean> {
    const node = await this.#begin(path, fence);
    return node.remove(version);
  }

  /**
   * Reads, and writes what `change` makes of it if nobody wrote in between; otherwise `change` is called again. It must not
   * update the same path itself.
   * @returns the version that the node has now
   * @throws what `change` throws, and as `write` does; ZnodeConflictError after 1 000 times
   */
  async update(path: string, fence: ZnodeFence, change: MakeContent): Promise<number> {
    checkFunction('update(path, fence, change)', change, path);
    const around = this.#updatesAround.resources;
    if (around.includes(path)) throw insideOfItself(path);
    const update = (): Promise<number> => this.#updatesAround.run(path, () => this.#update(path, fence, change));
    // Inside of another one it does not wait: two that go through their paths in opposite order would wait for each other.
    return around.length > 0 ? update() : this.#turns.run(path, update);
  }

  #update(path: string, fence: ZnodeFence, change: MakeContent): Promise<number> {
    const node: Updatable<ExpectedVersion, number> = {
      name: path,
      read: async () => {
        const found = await this.read(path);
        return { content: found?.data, seen: found?.version ?? 'absent' };
      },
      write: async (content, seen) => {
        try {
          return await this.write(path, content, fence, { version: seen });
        } catch (error) {
          if (error instanceof ZnodeConflictError) return undefined;
          throw error;
        }
      },
    };
    return readMakeWrite(node, change, (text) => new ZnodeConflictError(text));
  }

  async #begin(path: string, fence: ZnodeFence): Promise<GuardedNode> {
    const { access, fullPath } = this.#place(path);
    const right = await rightOf(fence, path, access.namespace, this.#settings);
    refuseBelowRoot(this.#root, right.key);
    return new GuardedNode(this.#link(access, path), fullPath, right, access.writerState);
  }

  #place(path: string): { access: SessionAccess; fullPath: string } {
    const access = this.#locks[sessionAccess]();
    if (!access.session.hasMultis) throw nativeRefusal('FencedZnodes');
    return { access, fullPath: dataPath(`${access.namespace}${this.#root}`, path) };
  }

  #link({ session, waitMs }: SessionAccess, path: string): PatientLink {
    return new PatientLink(session, path, waitMs || ANSWER_WITHIN_MS);
  }
}

function insideOfItself(path: string): LockConfigurationError {
  return new LockConfigurationError(
    `update() of ${path} inside of an update() of ${path}: the outer one writes what its change returns. Make it one`,
  );
}
