import { lstat, readdir, realpath, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { types } from 'node:util';
import { LockClosedError, LockConfigurationError } from '../../lock/errors.js';
import { checkFunction, checkResource, bytesOf, type NewContent } from '../checks.js';
import { type Fence, type FenceSettings, tokenToCompare } from '../fence.js';
import { checkOptions } from './check-options.js';
import { assertFits } from './content.js';
import { makeDirectory, type Modes, PRIVATE, unlessCode, unlessMissing } from './directories.js';
import { type Change, FencedFile } from './fenced-file.js';
import { refuseUnfitFileSystem, refuseWithoutLinks } from './file-system.js';
import { folderNameOf, resourceOf } from './folder-name.js';
import { Generations, NEW_FOLDER } from './generations.js';
import type { JournalState } from './journal-state.js';
import { OpenFiles } from './open-files.js';
import { Room } from './room.js';
import { MADE_CONTENT, type MakeContent, readMakeWrite, type Updatable } from '../update-loop.js';

export interface FencedFileStoreOptions extends FenceSettings {
  /** The folder of the store, on a file system that one kernel has mounted. It is made if it is missing. */
  readonly root: string;
  /** Takes a file system that several hosts can mount: you know that it appends atomically for all of them. @default false */
  readonly trustFileSystem?: boolean;
  /** The mode of the files that the store makes, whatever the umask is. Existing files keep theirs. @default 0o600 */
  readonly fileMode?: number;
  /** The mode of the folders that the store makes, the root included; 0o2770 gives them the group of the root. @default 0o700 */
  readonly folderMode?: number;
  /** Called with the error when a call is refused because the journal of its file is damaged: log it. Its own errors are ignored. */
  readonly onDamage?: (error: LockConfigurationError) => void;
}

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
/** No process needs so long to make a folder. One that was stopped for so long finds its folder gone, and makes another. */
const LEFT_BEHIND_AFTER_MS = 10 * 60_000;

/**
 * Files that only the newest holder of a lock can change. A writer shows its fencing token, and one that is smaller than
 * any shown before is refused, however late it comes and whatever it believes. All processes of a host may use the same
 * root at the same time; none waits for another, not even for one that is stopped in the middle of a write.
 *
 * A promise that resolves means that the change outlasts a crash of the process and of the machine.
 */
export class FencedFileStore implements AsyncDisposable {
  readonly #files: OpenFiles;
  readonly #underWay = new Set<Promise<unknown>>();
  #isClosed = false;

  private constructor(
    private readonly root: string,
    private readonly settings: FenceSettings,
    modes: Modes,
    onDamage: FencedFileStoreOptions['onDamage'],
    { minJournalBytes, maxOpenFiles }: FileStoreLimits,
  ) {
    this.#files = new OpenFiles(maxOpenFiles, (resource) => {
      const { folder, nameInside } = folderNameOf(resource);
      const generations = new Generations(join(root, folder), nameInside, new Room(root), modes);
      return new FencedFile(resource, generations, minJournalBytes, onDamage);
    });
  }

  /** @throws LockConfigurationError for an option that is none, for a shared file system, and one without hard links */
  static async open(options: FencedFileStoreOptions): Promise<FencedFileStore> {
    return FencedFileStore.openWith(options, LIMITS);
  }

  /** @internal */
  static async openWith(options: FencedFileStoreOptions, limits: Partial<FileStoreLimits>): Promise<FencedFileStore> {
    checkOptions(options);
    const { root, trustFileSystem = false, fileMode, folderMode, onDamage, ...settings } = options;
    const modes: Modes = { file: fileMode ?? PRIVATE.file, folder: folderMode ?? PRIVATE.folder };
    await makeDirectory(root, modes.folder);
    const place = await realpath(root);
    if (!trustFileSystem) await refuseUnfitFileSystem(place);
    await removeLeftBehind(place);
    await refuseWithoutLinks(place);
    return new FencedFileStore(place, settings, modes, onDamage, { ...LIMITS, ...limits });
  }

  /**
   * Reads the whole file, without a token. To write what follows from the content, call `claim()` before, or use `update()`.
   * @returns undefined where there is none
   */
  read(resource: string): Promise<StoredFile | undefined> {
    return this.#runOn(resource, () => this.#look(resource, storedFileOf));
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
      await this.#change(resource, 'claim', fence, NOTHING);
      const file: Updatable<string | undefined, true> = {
        name: resource,
        read: async () => {
          const found = await this.#look(resource, (state) => ({ ...storedFileOf(state), seen: state.lastChange }));
          return { content: found?.content, seen: found?.seen };
        },
        write: async (content, seen) => {
          const bytes = bytesToKeep(content, resource, MADE_CONTENT);
          return (await this.#change(resource, 'write', fence, bytes, seen)) || undefined;
        },
      };
      await readMakeWrite(file, change, (text) => new LockConfigurationError(text, resource));
    });
  }

  /** The highest token that was shown for a file, also for one that is removed. */
  highestToken(resource: string): Promise<bigint | undefined> {
    return this.#runOn(resource, async () => {
      const mark = await this.#look(resource, (state) => state.mark);
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
    await this.#files.close();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  async #runChange(resource: string, kind: Change['kind'], fence: Fence, content: NewContent): Promise<void> {
    await this.#runOn(resource, () => {
      return this.#change(resource, kind, fence, bytesToKeep(content, resource, 'what was given'));
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

  async #look<T>(resource: string, at: (state: JournalState) => T): Promise<T | undefined> {
    return this.#files.use(resource, (file) => file.look(at));
  }

  async #change(
    resource: string,
    kind: Change['kind'],
    fence: Fence,
    payload: Uint8Array,
    onlyAfter?: string,
  ): Promise<boolean> {
    const token = await tokenToCompare(fence, resource, this.settings);
    return this.#files.use(resource, (file) => file.change({ kind, token, payload, onlyAfter }));
  }
}

/** A copy of the content. @throws LockConfigurationError */
function bytesToKeep(content: NewContent, resource: string, source: string): Buffer {
  // Content that is too large is refused before it is copied.
  const isKnown = typeof content === 'string' || types.isUint8Array(content);
  if (isKnown) assertFits(resource, Buffer.byteLength(content));
  return bytesOf(content, resource, source);
}

function storedFileOf({ content, writtenUnder }: JournalState): StoredFile | undefined {
  return content === undefined ? undefined : { content: content.copy(), fencingToken: writtenUnder };
}

/** Removes the folders of processes that ended while they made a file. */
async function removeLeftBehind(root: string): Promise<void> {
  for (const name of await readdir(root)) {
    if (!name.startsWith(NEW_FOLDER)) continue;
    const path = join(root, name);
    const folder = await unlessMissing(lstat(path));
    if (folder === undefined || Date.now() - folder.mtimeMs < LEFT_BEHIND_AFTER_MS) continue;
    // Where several users share the root, each one removes the folders of its own processes.
    await unlessCode(['EACCES', 'EPERM'], rm(path, { recursive: true, force: true }));
  }
}
