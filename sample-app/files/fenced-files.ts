import { randomUUID } from 'node:crypto';
import { mkdir, open, readdir, readFile, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { Inject, Injectable } from '@nestjs/common';
import { StaleFencingTokenError } from 'nestjs-zookeeper-lock';
import { SETTINGS, type Settings } from '../settings.js';
import { folderNameOf } from './folder-name.js';

export interface StoredFile {
  readonly content: string;
  /** Of the lock under which it was written. */
  readonly fencingToken: bigint;
}

/** What the store keeps apart. */
export type Collection = 'files' | 'inventory' | 'jobs';

/** A positive int64 in full, so that names sort as numbers do. */
const TOKEN_DIGITS = 19;
const TOKEN = /^\d{19}$/;

/**
 * Files on a volume that knows nothing of transactions. A file is a folder, and each version in it is named by the fencing
 * token of its writer: the highest is the file. No step has to check and write at once, which no volume can: a writer
 * whose lock is long gone makes a version that nobody reads.
 */
@Injectable()
export class FencedFiles {
  readonly #root: string;

  constructor(@Inject(SETTINGS) settings: Pick<Settings, 'dataDir'>) {
    this.#root = settings.dataDir;
  }

  async read(collection: Collection, name: string): Promise<StoredFile | undefined> {
    const folder = this.#folder(collection, name);
    for (;;) {
      const newest = (await versionsIn(folder)).at(-1);
      if (newest === undefined) return undefined;
      const content = await unlessGone(readFile(join(folder, newest), 'utf8'));
      // Else a newer one took its place between the two looks.
      if (content !== undefined) return { content, fencingToken: BigInt(newest) };
    }
  }

  /** @throws StaleFencingTokenError when a later holder of the lock has written */
  async write(collection: Collection, name: string, content: string, fencingToken: bigint): Promise<void> {
    const folder = this.#folder(collection, name);
    const version = String(fencingToken).padStart(TOKEN_DIGITS, '0');
    await mkdir(folder, { recursive: true });
    refuseStale(await versionsIn(folder), version, name);
    await writeWhole(folder, version, content);
    const versions = await versionsIn(folder);
    await Promise.all(versions.filter((one) => one < version).map((one) => rm(join(folder, one), { force: true })));
    refuseStale(versions, version, name);
  }

  #folder(collection: Collection, name: string): string {
    return join(this.#root, collection, folderNameOf(name));
  }
}

/** Readers see the version as it was or as it is, whenever the process dies. */
async function writeWhole(folder: string, version: string, content: string): Promise<void> {
  const temporary = join(folder, `${version}-${randomUUID()}.tmp`);
  try {
    const file = await open(temporary, 'wx');
    try {
      await file.writeFile(content);
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(temporary, join(folder, version));
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }
}

function refuseStale(versions: readonly string[], version: string, name: string): void {
  const newest = versions.at(-1);
  if (newest === undefined || newest <= version) return;
  throw new StaleFencingTokenError(
    `${name} was written under the token ${BigInt(newest)}, so ${BigInt(version)} comes too late: that lock is over. ` +
      'Read the file again, and repeat the request if it still makes sense. (A ZooKeeper that was set up anew counts from ' +
      'the start: give it an empty DATA_DIR.)',
  );
}

async function versionsIn(folder: string): Promise<string[]> {
  const names = (await unlessGone(readdir(folder))) ?? [];
  return names.filter((name) => TOKEN.test(name)).sort();
}

async function unlessGone<T>(reading: Promise<T>): Promise<T | undefined> {
  try {
    return await reading;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}
