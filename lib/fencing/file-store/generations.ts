import { randomUUID } from 'node:crypto';
import { chmod, link, lstat, mkdir, readdir, rename, rm, rmdir, unlink } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { LockConfigurationError } from '../../lock/errors.js';
import { NEW_FOLDER, Room, syncDirectory, unlessCode, unlessMissing, writeDurably } from './disk.js';
import { NAME_FILE } from './folder-name.js';
import { Journal } from './journal.js';
import { baseOf, type JournalState, UNTOUCHED } from './journal-state.js';
import { type Modes, PRIVATE } from './options.js';
import { encodeRecord } from './record.js';

const JOURNAL = /^journal\.(0|[1-9]\d{0,14})$/;
const TEMPORARY = /^journal\.(0|[1-9]\d{0,14})\.[\w-]+\.tmp$/;
/** A folder with things in it and no journal is looked at again: the one it had may just have been replaced. */
const MAX_LOOKS = 100;
/** What a file costs on a disk besides its bytes, and more. */
const SPARE_BYTES = 64 * 1024;

/**
 * The journals of one file: `journal.<generation>`, of which the highest is the file. The one below it exists between the
 * making of the next journal and its own removal.
 *
 * A generation is made once and never again: otherwise a process that was stopped for long could bring an old state back.
 * The link that makes a generation fails where its name exists. Two rules see to it that a name which existed and was
 * removed is not linked again. A process that makes generation g+1 looks, when its temporary file is complete, whether g is
 * still there, and only then links. A process that removes generation g+1 makes sure that g is gone, then removes all
 * temporary files for g+1, and only then g+1. So a late link finds no g, or no temporary file. Generation 0 comes with the
 * folder, which is moved into its place as a whole, and that place is never empty again.
 */
export class Generations {
  /** @param nameInside what the file is called, where its folder does not tell (folder-name.ts) */
  constructor(
    readonly folder: string,
    private readonly nameInside?: string,
    private readonly room: Room = new Room(dirname(folder)),
    private readonly modes: Modes = PRIVATE,
  ) {}

  /** The highest journal, or `undefined` where the file has never been made. */
  async open(): Promise<Journal | undefined> {
    for (let looks = 0; looks < MAX_LOOKS; looks += 1) {
      const names = await this.#names();
      if (names === undefined) return undefined;
      // The list may be empty because journals changed places while it was made. rmdir fails for a folder that is not empty.
      if (names.length === 0) await unlessCode(['ENOTEMPTY', 'EEXIST', 'ENOENT'], rmdir(this.folder));
      const journal = await this.#openHighest(names);
      if (journal !== undefined) return journal;
    }
    throw new LockConfigurationError(
      `${this.folder} is not the folder of a file: there is something in it, but no journal. Stop all writers, ` +
        'then move it away, or restore it from a backup',
    );
  }

  /** Makes the file, with nothing in it. Somebody else may do so at the same time. */
  async create(): Promise<void> {
    const root = dirname(this.folder);
    const temporary = join(root, `${NEW_FOLDER}${randomUUID()}`);
    await mkdir(temporary, PRIVATE.folder);
    try {
      await chmod(temporary, this.modes.folder);
      // ENOENT: this process was stopped for so long that another took it for dead and removed its folder (fenced-file-store.ts).
      await unlessCode(['ENOTEMPTY', 'EEXIST', 'ENOENT'], this.#createIn(temporary));
    } finally {
      await rm(temporary, { recursive: true, force: true });
    }
    await syncDirectory(root);
  }

  /** Makes the journal that follows a sealed one, unless it is there. All processes make the same bytes. */
  async succeed(sealed: Journal): Promise<void> {
    const next = sealed.generation + 1;
    const temporary = join(this.folder, `journal.${next}.${randomUUID()}.tmp`);
    const bytes = encodeRecord(baseOf(sealed.state));
    await this.room.assertFor(bytes.length);
    try {
      await writeDurably(temporary, bytes, this.modes.file);
      // The first rule: only after the temporary file is complete does it count that the sealed journal is still there.
      if (!(await sealed.isInPlace())) return;
      await unlessCode(['EEXIST', 'ENOENT'], link(temporary, this.#path(next)));
    } finally {
      await rm(temporary, { force: true });
    }
    await syncDirectory(this.folder);
  }

  /** Whether the journal that follows one in this state is likely to find room. */
  async hasRoomAfter(state: JournalState): Promise<boolean> {
    const free = (await this.room.freeBytes()) - SPARE_BYTES;
    // An escaped byte takes two. The exact size costs a copy of all, so it is only looked at where room is scarce.
    return free >= 2 * (state.content?.length ?? 0) || free >= encodeRecord(baseOf(state)).length;
  }

  /** Whether no journal had followed this one, at a moment during the call. */
  async isLast(generation: number): Promise<boolean> {
    // The order of the looks counts. The next journal is removed after this one. So if this one is still there after the next
    // one was not found, the next one has not gone: it has never been.
    return !(await this.#isThere(generation + 1)) && (await this.#isThere(generation));
  }

  async #createIn(temporary: string): Promise<void> {
    const { file } = this.modes;
    await writeDurably(join(temporary, 'journal.0'), encodeRecord(baseOf(UNTOUCHED)), file);
    if (this.nameInside !== undefined) {
      await writeDurably(join(temporary, NAME_FILE), Buffer.from(this.nameInside), file);
    }
    await syncDirectory(temporary);
    // A rename replaces an empty folder, and no other.
    await rename(temporary, this.folder);
  }

  async #openHighest(names: readonly string[]): Promise<Journal | undefined> {
    const generation = highestOf(names);
    if (generation === undefined) return undefined;
    const journal = await unlessMissing(Journal.open(this.#path(generation), generation, this.room));
    if (journal === undefined) return undefined;
    let highest: Journal | undefined;
    try {
      // A higher journal may have come. The ones below it are over, and may be no more than copies put back by hand.
      const namesNow = (await this.#names()) ?? [];
      if (highestOf(namesNow) !== generation) return undefined;
      // No record in it may be acknowledged before the journal itself is sure to be found after a power failure.
      await syncDirectory(this.folder);
      await syncDirectory(dirname(this.folder));
      await this.#removeBelow(generation, namesNow);
      highest = journal;
      return highest;
    } finally {
      if (highest === undefined) await journal.close();
    }
  }

  async #removeBelow(generation: number, names: readonly string[]): Promise<void> {
    const isLeftOver = (name: string): boolean => (generationOf(TEMPORARY, name) ?? Infinity) <= generation;
    const older = journalsIn(names).filter((one) => one < generation);
    for (const one of older) {
      // The second rule: the journal below goes first, then the temporary files, and this one last.
      await this.#remove(`journal.${one - 1}`);
      // The folder is listed again: a temporary file counts that was there when the journal below was gone.
      const left = ((await this.#names()) ?? []).filter((name) => isLeftOver(name));
      await Promise.all(left.map((name) => this.#remove(name)));
      await this.#remove(`journal.${one}`);
    }
    if (older.length === 0) await Promise.all(names.filter(isLeftOver).map((name) => this.#remove(name)));
  }

  async #remove(name: string): Promise<void> {
    await unlessMissing(unlink(join(this.folder, name)));
  }

  /** The names in the folder; undefined where there is none. */
  async #names(): Promise<string[] | undefined> {
    const folder = await unlessMissing(lstat(this.folder));
    if (folder === undefined) return undefined;
    if (folder.isDirectory()) return unlessMissing(readdir(this.folder));
    // The store makes no links, so this one leads to a place that somebody else has chosen.
    throw new LockConfigurationError(
      `${this.folder} must be a folder of FencedFileStore, and is a link or a file. It was not followed. Stop ` +
        'all writers, then move it away',
    );
  }

  async #isThere(generation: number): Promise<boolean> {
    return (await unlessMissing(lstat(this.#path(generation)))) !== undefined;
  }

  #path(generation: number): string {
    return join(this.folder, `journal.${generation}`);
  }
}

function generationOf(pattern: RegExp, name: string): number | undefined {
  const found = pattern.exec(name);
  return found === null ? undefined : Number(found[1]);
}

/** In ascending order. */
function journalsIn(names: readonly string[]): number[] {
  const generations = names.map((name) => generationOf(JOURNAL, name)).filter((one) => one !== undefined);
  return generations.sort((one, other) => one - other);
}

function highestOf(names: readonly string[]): number | undefined {
  return journalsIn(names).at(-1);
}
