import { closeSync, openSync, readFileSync, writeSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { folderRemoved } from '../process/reaper.js';
import { makeWorkspace } from '../zookeeper/workspace.js';

/** `blind`: see NeighbourMode. */
export type JournalMode = 'exclusive' | 'write' | 'read' | 'upgradeable' | 'blind';

/** One line of the journal. */
export interface Entry {
  readonly event: 'enter' | 'leave';
  readonly key: string;
  readonly mode: JournalMode;
  /** The contender's node. */
  readonly name: string;
  /** Whose lock it is: `ours`, `curator`, `kazoo`. */
  readonly maker: string;
}

/**
 * Who was inside which lock, in the order in which it happened, whatever any lock believes: every holder, in whatever
 * process and language, adds one line to one file as soon as it is inside and one just before it gives back. The kernel
 * puts each at the end of the file in a single write.
 */
export class Journal {
  readonly path: string;
  readonly #file: number;

  private constructor(private readonly folder: string) {
    this.path = join(folder, 'journal');
    this.#file = openSync(this.path, 'a');
  }

  static async open(): Promise<Journal> {
    return new Journal(await makeWorkspace());
  }

  enter(lock: JournalledLock, maker = 'ours'): void {
    this.#write('enter', lock, maker);
  }

  leave(lock: JournalledLock, maker = 'ours'): void {
    this.#write('leave', lock, maker);
  }

  /** What there is of one key so far. */
  of(key: string): Entry[] {
    const lines = readFileSync(this.path, 'utf8').split('\n').slice(0, -1);
    return lines.map(parseLine).filter((entry) => entry.key === key);
  }

  async remove(): Promise<void> {
    closeSync(this.#file);
    await rm(this.folder, { recursive: true, force: true });
    folderRemoved(this.folder);
  }

  #write(event: Entry['event'], { key, mode, nodePath }: JournalledLock, maker: string): void {
    const name = nodePath.slice(nodePath.lastIndexOf('/') + 1);
    writeSync(this.#file, `${[event, key, mode, name, maker].join('\t')}\n`);
  }
}

/** What a handle has of it. */
interface JournalledLock {
  readonly key: string;
  readonly mode: JournalMode;
  readonly nodePath: string;
}

function parseLine(line: string): Entry {
  const [event, key = '', mode, name = '', maker = ''] = line.split('\t');
  if (event !== 'enter' && event !== 'leave') throw new Error(`Not a line of the journal: ${JSON.stringify(line)}`);
  return { event, key, mode: mode as JournalMode, name, maker };
}
