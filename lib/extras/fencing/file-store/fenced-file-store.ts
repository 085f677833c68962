import { lstat, readdir, realpath, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { types } from 'node:util';
import { LockClosedError, LockConfigurationError } from '../../../lock/errors.js';
import { checkFunction } from '../check-function.js';
import { checkResource } from '../check-resource.js';
import { type Fence, type FenceSettings, tokenToCompare } from '../fence.js';
import { checkOptions } from './check-options.js';
import { assertFits } from './content.js';
import { makeDirectory, type Modes, PRIVATE, unlessCode, unlessMissing } from './directories.js';
import { type Change, FencedFile } from './fenced-file.js';
import { refuseUnfitFileSystem, refuseWithoutLinks } from './file-system.js';
import { folderNameOf, resourceOf } from './folder-name.js';
import { Generations, NEW_FOLDER } from './generations.js';
import type { JournalState } from './journal-state.js';
import { bytesOf, type NewContent } from '../new-content.js';
import { OpenFiles } from './open-files.js';
import { Room } from './room.js';
import { onOneLine } from '../on-one-line.js';

export interface FencedFileStoreOptions extends FenceSettings {
  /** The folder of the store, on a file system that one kernel has mounted. It is made if it is missing. */
  readonly root: string;
  /** Do not refuse a file system that several hosts can mount: you know that it appends atomically. @default false */
  readonly trustFileSystem?: boolean;
  /** Of the files that are made, whatever the umask is. Those that are there keep theirs. @default 0o600 */
  readonly fileMode?: number;
  /** Of the folders that are made, the root included; 0o2770 lets them have the group of the root. @default 0o700 */
  readonly folderMode?: number;
  /** Told of each call that is refused as the journal of its file is damaged, for a log. What it throws is ignored. */
  readonly onDamage?: (error: LockConfigurationError) => void;
}

/** For tests. @internal */
export interface FileStoreLimits {
  readonly minJournalBytes: number;
  readonly maxOpenFiles: number;
}

export interface StoredFile {
  readonly content: Buffer;
  /** Of the lock under which it was written. */
  readonly fencingToken: bigint;
}

const LIMITS: FileStoreLimits = { minJournalBytes: 1024 * 1024, maxOpenFiles: 128 };
const NOTHING = new Uint8Array();
const MAX_REPEATS = 1_000;
/** Nobody takes so long to make a folder; who does anyway makes it again. */
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
   * The whole file. Anybody may read; who wants to write what follows from it calls `claim()` first, or `update()`.
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

  /** What is left is the highest token. @throws StaleFencingTokenError */
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
   * can have changed it in between: then `change` is called again. What it throws is thrown, and nothing is written then.
   * @throws StaleFencingTokenError
   */
  update(
    resource: string,
    fence: Fence,
    change: (content: Buffer | undefined) => NewContent | Promise<NewContent>,
  ): Promise<void> {
    return this.#runOn(resource, async () => {
      checkFunction('update(resource, fence, change)', change, resource);
      await this.#change(resource, 'claim', fence, NOTHING);
      for (let times = 0; times < MAX_REPEATS; times += 1) {
        const before = await this.#look(resource, (state) => ({ file: storedFileOf(state), is: state.lastChange }));
        const changed = await change(before?.file?.content);
        const content = bytesToKeep(changed, resource, 'what the function of update() returned');
        if (await this.#change(resource, 'write', fence, content, before?.is)) return;
      }
      throw changedEachTime(resource);
    });
  }

  /** The highest token that was shown for a file, also for one that is removed. */
  highestToken(resource: string): Promise<bigint | undefined> {
    return this.#runOn(resource, async () => {
      const mark = await this.#look(resource, (state) => state.mark);
      return mark === 0n ? undefined : mark;
    });
  }

  /** Of all files that were ever written or claimed; also of those that are removed, as their tokens stay. */
  names(): Promise<string[]> {
    return this.#run(async () => {
      const folders = await readdir(this.root);
      const names = await Promise.all(folders.map((folder) => resourceOf(this.root, folder)));
      return names.filter((name) => name !== undefined);
    });
  }

  /** Resolves when all that was asked for before is done. What is asked for later is refused. */
  async close(): Promise<void> {
    this.#isClosed = true;
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
      throw new LockClosedError('This FencedFileStore is closed; what was asked for was not done', resource);
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

/** What is too large is refused before a copy is made of it. */
function bytesToKeep(content: NewContent, resource: string, source: string): Buffer {
  const isKnown = typeof content === 'string' || types.isUint8Array(content);
  if (isKnown) assertFits(resource, Buffer.byteLength(content));
  return bytesOf(content, resource, source);
}

function storedFileOf({ content, writtenUnder }: JournalState): StoredFile | undefined {
  return content === undefined ? undefined : { content: content.copy(), fencingToken: writtenUnder };
}

function changedEachTime(resource: string): LockConfigurationError {
  return new LockConfigurationError(
    `${onOneLine(resource)} was changed under the same token during each of ${MAX_REPEATS} attempts to update it. This update wrote ` +
      'nothing. Does the function that makes the new content write to the same file?',
    resource,
  );
}

/** Of processes that ended while they made a file. */
async function removeLeftBehind(root: string): Promise<void> {
  for (const name of await readdir(root)) {
    if (!name.startsWith(NEW_FOLDER)) continue;
    const path = join(root, name);
    const folder = await unlessMissing(lstat(path));
    if (folder === undefined || Date.now() - folder.mtimeMs < LEFT_BEHIND_AFTER_MS) continue;
    // Where several users share the root, each clears up after himself.
    await unlessCode(['EACCES', 'EPERM'], rm(path, { recursive: true, force: true }));
  }
}
