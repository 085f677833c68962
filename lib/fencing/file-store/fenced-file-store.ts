import { readdir, realpath } from 'node:fs/promises';
import { join } from 'node:path';
import { LockClosedError, LockConfigurationError } from '../../lock/errors.js';
import { checkFunction, checkResource, bytesOf, type NewContent } from '../checks.js';
import { type Fence, type FenceSettings, tokenToCompare } from '../fence.js';
import { makeDirectory, refuseUnfitFileSystem, refuseWithoutLinks, removeLeftBehind, Room } from './disk.js';
import { type Change, FencedFile } from './fenced-file.js';
import { folderNameOf, resourceOf } from './folder-name.js';
import { Generations } from './generations.js';
import { assertFits, type JournalState } from './journal-state.js';
import { OpenFiles } from './open-files.js';
import { checkOptions, type FencedFileStoreOptions, PRIVATE } from './options.js';
import { MADE_CONTENT, type MakeContent, readMakeWrite, type Updatable } from '../update-loop.js';

/** For tests. @internal */
export interface FileStoreLimits {
  readonly minJournalBytes: number;
  readonly maxOpenFiles: number;
}

export interface StoredFile {
  readonly content: Buffer;
  /** The token of the lock under which the content was written. */
  readonly fencingToken: bigint;
}

const LIMITS: FileStoreLimits = { minJournalBytes: 1024 * 1024, maxOpenFiles: 128 };
const NOTHING = new Uint8Array();

/**
 * Files that only the newest holder of a lock can change. A writer shows its fencing token, and one that is smaller than
 * any shown before is refused, however late it comes and whatever it believes. All processes of a host may use the same
 * root at the same time; none waits for another, not even for one that is stopped in the middle of a write.
 *
 * A promise that resolves means that the change outlasts a crash of the process and of the machine.
 */
export class FencedFileStore implements AsyncDisposable {
  readonly #underWay = new Set<Promise<unknown>>();
  #isClosed = false;

  private constructor(
    private readonly root: string,
    private readonly settings: FenceSettings,
    private readonly files: OpenFiles,
  ) {}

  /** @throws LockConfigurationError for an option that is none, for a shared file system, and one without hard links */
  static async open(options: FencedFileStoreOptions): Promise<FencedFileStore> {
    return FencedFileStore.openWith(options, LIMITS);
  }

  /** @internal */
  static async openWith(options: FencedFileStoreOptions, limits: Partial<FileStoreLimits>): Promise<FencedFileStore> {
    checkOptions(options);
    const { root, trustFileSystem = false, fileMode, folderMode, onDamage, ...settings } = options;
    const { minJournalBytes, maxOpenFiles } = { ...LIMITS, ...limits };
    const modes = { file: fileMode ?? PRIVATE.file, folder: folderMode ?? PRIVATE.folder };
    await makeDirectory(root, modes.folder);
    const place = await realpath(root);
    if (!trustFileSystem) await refuseUnfitFileSystem(place);
    await removeLeftBehind(place);
    await refuseWithoutLinks(place);
    const room = new Room(place);
    const files = new OpenFiles(maxOpenFiles, (resource) => {
      const { folder, nameInside } = folderNameOf(resource);
      const generations = new Generations(join(place, folder), nameInside, room, modes);
      return new FencedFile(resource, generations, minJournalBytes, onDamage);
    });
    return new FencedFileStore(place, settings, files);
  }

  /**
   * Reads the whole file, without a token. To write what follows from the content, call `claim()` before, or use `update()`.
   * @returns undefined where there is none
   */
  read(resource: string): Promise<StoredFile | undefined> {
    return this.#runOn(resource, () => this.files.use(resource, (file) => file.look(storedFileOf)));
  }

  /** Replaces the whole file. @throws StaleFencingTokenError */
  write(resource: string, content: NewContent, fence: Fence): Promise<void> {
    return this.#runChange(resource, 'write', fence, content);
  }

  /** Adds to the end; makes the file if there is none. It costs as much as what is added. @throws StaleFencingTokenError */
  append(resource: string, content: NewContent, fence: Fence): Promise<void> {
    return this.#runChange(resource, 'append', fence, content);
  }

  /** Removes the content; the highest token stays. @throws StaleFencingTokenError */
  remove(resource: string, fence: Fence): Promise<void> {
    return this.#runChange(resource, 'remove', fence, NOTHING);
  }

  /**
   * Shows the token and changes nothing else: what is read afterwards can no longer be changed by an older holder.
   * @throws StaleFencingTokenError
   */
  claim(resource: string, fence: Fence): Promise<void> {
    return this.#runChange(resource, 'claim', fence, NOTHING);
  }

  /**
   * Claims, reads, and writes what `change` makes of it, if the file is still the one that was read. Only the same holder
   * can have changed it in between: then `change` is called again. If it throws, nothing is written and its error comes out.
   * @throws StaleFencingTokenError
   */
  update(resource: string, fence: Fence, change: MakeContent): Promise<void> {
    return this.#runOn(resource, async () => {
      checkFunction('update(resource, fence, change)', change, resource);
      await this.#change(resource, fence, { kind: 'claim', payload: NOTHING });
      const file: Updatable<string | undefined, true> = {
        name: resource,
        read: async () => {
          const found = await this.files.use(resource, (file) =>
            file.look((state) => ({ ...storedFileOf(state), seen: state.lastChange })),
          );
          return { content: found?.content, seen: found?.seen };
        },
        write: async (content, seen) => {
          const bytes = bytesToKeep(content, resource, MADE_CONTENT);
          return (await this.#change(resource, fence, { kind: 'write', payload: bytes, onlyAfter: seen })) || undefined;
        },
      };
      await readMakeWrite(file, change, (text) => new LockConfigurationError(text, resource));
    });
  }

  /** The highest token that was shown for a file, also for one that is removed. */
  highestToken(resource: string): Promise<bigint | undefined> {
    return this.#runOn(resource, async () => {
      const mark = await this.files.use(resource, (file) => file.look((state) => state.mark));
      return mark === 0n ? undefined : mark;
    });
  }

  /** The names of all files that were ever written or claimed. Removed files are among them, as their tokens stay. */
  names(): Promise<string[]> {
    return this.#run(async () => {
      const folders = await readdir(this.root);
      const names = await Promise.all(folders.map((folder) => resourceOf(this.root, folder)));
      return names.filter((name) => name !== undefined);
    });
  }

  /** Resolves when all calls made before are done. Later calls are refused. */
  async close(): Promise<void> {
    this.#isClosed = true;
    // A call waits for its lock outside of the turns of its file, so the files alone do not tell what is under way.
    await Promise.allSettled(this.#underWay);
    await this.files.close();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  async #runChange(resource: string, kind: Change['kind'], fence: Fence, content: NewContent): Promise<void> {
    await this.#runOn(resource, () => {
      return this.#change(resource, fence, { kind, payload: bytesToKeep(content, resource, 'what was given') });
    });
  }

  async #runOn<T>(resource: string, operation: () => Promise<T>): Promise<T> {
    checkResource(resource);
    return this.#run(operation, resource);
  }

  async #run<T>(operation: () => Promise<T>, resource?: string): Promise<T> {
    if (this.#isClosed) {
      throw new LockClosedError('This FencedFileStore is closed. The call did nothing', resource);
    }
    const running = operation();
    this.#underWay.add(running);
    try {
      return await running;
    } finally {
      this.#underWay.delete(running);
    }
  }

  async #change(resource: string, fence: Fence, change: Omit<Change, 'token'>): Promise<boolean> {
    const token = await tokenToCompare(fence, resource, this.settings);
    return this.files.use(resource, (file) => file.change({ ...change, token }));
  }
}

/** A copy of the content. @throws LockConfigurationError */
function bytesToKeep(content: NewContent, resource: string, source: string): Buffer {
  const bytes = bytesOf(content, resource, source);
  assertFits(resource, bytes.length);
  return bytes;
}

function storedFileOf({ content, writtenUnder }: JournalState): StoredFile | undefined {
  return content === undefined ? undefined : { content: content.copy(), fencingToken: writtenUnder };
}
