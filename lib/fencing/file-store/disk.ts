import { randomUUID } from 'node:crypto';
import { constants } from 'node:fs';
import { chmod, link, lstat, mkdir, open, readdir, rm, statfs, writeFile } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { LockConfigurationError } from '../../lock/errors.js';
import { PRIVATE } from './options.js';

/** Begins the name of a folder, in the root, in which a file is being made. No file is called so (folder-name.ts). */
export const NEW_FOLDER = '.new-';

/** No process needs so long to make a folder. One that was stopped for so long finds its folder gone, and makes another. */
const LEFT_BEHIND_AFTER_MS = 10 * 60_000;

/** File systems that several hosts can mount, by their numbers on Linux. Other systems have other numbers, or none. */
const SHARED: ReadonlyMap<number, string> = new Map([
  [0x6969, 'NFS'],
  [0x517b, 'SMB'],
  [0xff534d42, 'SMB/CIFS'],
  [0xfe534d42, 'SMB2'],
  [0x01021997, '9p'],
  [0x65735546, 'FUSE'],
  [0x00c36400, 'CephFS'],
  [0x0bd00bd0, 'Lustre'],
  [0x47504653, 'GPFS'],
  [0x7461636f, 'OCFS2'],
  [0x01161970, 'GFS2'],
  [0x5346414f, 'AFS'],
  [0x6b414653, 'AFS'],
  [0x786f4256, 'vboxsf'],
  [0xbacbacbc, 'vmhgfs'],
]);

/** The codes of system calls that find no room: on the disk, for this user, for this process, or on a disk that became read-only. */
const LACK_OF_ROOM: readonly string[] = ['ENOSPC', 'EDQUOT', 'EFBIG', 'EROFS'];

/** After this, all that was made, linked or renamed in the folder outlasts a power failure. */
export async function syncDirectory(path: string): Promise<void> {
  const directory = await open(path, constants.O_RDONLY | constants.O_DIRECTORY);
  try {
    await directory.sync();
  } finally {
    await directory.close();
  }
}

/** Makes a folder, and those above it where they are missing, so that they last. One that is there keeps its mode. */
export async function makeDirectory(path: string, mode = PRIVATE.folder): Promise<void> {
  const first = await mkdir(path, { recursive: true, mode });
  if (first === undefined) return;
  await chmod(path, mode);
  const highest = resolve(first);
  // Each folder that was made is an entry of the one above it.
  for (let made = resolve(path); made.length >= highest.length; made = dirname(made))
    await syncDirectory(dirname(made));
}

export async function unlessMissing<T>(doing: Promise<T>): Promise<T | undefined> {
  return unlessCode(['ENOENT'], doing);
}

/** Resolves with undefined instead of an error with one of these codes, which mean that there is nothing to do. */
export async function unlessCode<T>(codes: readonly string[], doing: Promise<T>): Promise<T | undefined> {
  try {
    return await doing;
  } catch (error) {
    if (codes.includes((error as NodeJS.ErrnoException).code ?? '')) return undefined;
    throw error;
  }
}

/** Makes a file that lasts. */
export async function writeDurably(path: string, bytes: Uint8Array, mode: number): Promise<void> {
  const file = await open(path, 'wx', PRIVATE.file);
  try {
    // A mode given to `open` would lose the rights that the umask of the process takes away.
    await file.chmod(mode);
    await file.writeFile(bytes);
    await file.sync();
  } finally {
    await file.close();
  }
}

/** The room that is left on a disk. */
export class Room {
  constructor(private readonly path: string) {}

  /** The free bytes of this moment: others write as well. Quotas do not show in it. */
  async freeBytes(): Promise<number> {
    const { blocks, bavail, bsize } = await statfs(this.path);
    // A tmpfs without a limit has no size at all.
    return blocks === 0 ? Infinity : bavail * bsize;
  }

  /** Refuses a write for which there is no room: what a full disk cuts off cannot be taken back. */
  async assertFor(bytes: number): Promise<void> {
    const free = await this.freeBytes();
    if (bytes <= free) return;
    const error = new Error(
      `No room for ${bytes} bytes in ${this.path}: ${free} are free on its disk. Nothing was written. Make room, then repeat it`,
    );
    throw Object.assign(error, { code: 'ENOSPC' });
  }
}

export function isLackOfRoom(error: unknown): boolean {
  return LACK_OF_ROOM.includes((error as NodeJS.ErrnoException).code ?? '');
}

/** @throws LockConfigurationError where several hosts may overwrite what each other appends */
export async function refuseUnfitFileSystem(
  root: string,
  look: (path: string) => Promise<{ readonly type: number }> = statfs,
): Promise<void> {
  const { type } = await look(root);
  // On some systems the number comes with a sign.
  const name = SHARED.get(type >>> 0);
  if (name === undefined) return;
  throw new LockConfigurationError(
    `FencedFileStore: ${root} is on ${name}. Several hosts can mount it, and on most such file systems a host looks up the ` +
      'end of a file first and writes there afterwards, so that two of them overwrite what the other has acknowledged. Use ' +
      'a file system that one kernel has mounted (a local disk, or a block device such as EBS or iSCSI), or a database ' +
      '(docs/fencing-stores.md). If you know that yours appends atomically for all who mount it, pass trustFileSystem: true',
  );
}

/** @throws LockConfigurationError where a file cannot have a second name (vfat, exFAT): no journal could be replaced */
export async function refuseWithoutLinks(root: string, tryLink: typeof link = link): Promise<void> {
  const folder = join(root, `${NEW_FOLDER}${randomUUID()}`);
  try {
    await mkdir(folder, PRIVATE.folder);
    await writeFile(join(folder, 'one'), '', { mode: PRIVATE.file });
    await tryLink(join(folder, 'one'), join(folder, 'another')).catch((error: unknown) => {
      if (!isLackOfRoom(error)) throw withoutLinks(root, error);
    });
  } catch (error) {
    // A full disk says nothing about links, and the files on it must be readable all the same.
    if (!isLackOfRoom(error)) throw error;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

function withoutLinks(root: string, cause: unknown): LockConfigurationError {
  return new LockConfigurationError(
    `FencedFileStore: the file system of ${root} makes no hard links, or lets this process make none. The store needs them ` +
      'to replace a journal. Use ext4, xfs, btrfs or another one that has them; vfat and exFAT have not',
    undefined,
    { cause },
  );
}

/** Removes the folders of processes that ended while they made a file. */
export async function removeLeftBehind(root: string): Promise<void> {
  for (const name of await readdir(root)) {
    if (!name.startsWith(NEW_FOLDER)) continue;
    const path = join(root, name);
    const folder = await unlessMissing(lstat(path));
    if (folder === undefined || Date.now() - folder.mtimeMs < LEFT_BEHIND_AFTER_MS) continue;
    // Where several users share the root, each one removes the folders of its own processes.
    await unlessCode(['EACCES', 'EPERM'], rm(path, { recursive: true, force: true }));
  }
}
