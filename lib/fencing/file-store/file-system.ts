import { randomUUID } from 'node:crypto';
import { link, mkdir, rm, statfs, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { LockConfigurationError } from '../../lock/errors.js';
import { PRIVATE } from './directories.js';
import { NEW_FOLDER } from './generations.js';
import { isLackOfRoom } from './room.js';

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

export function whyUnfit(type: number): string | undefined {
  return SHARED.get(type >>> 0);
}

/** @throws LockConfigurationError where several hosts may overwrite what each other appends */
export async function refuseUnfitFileSystem(
  root: string,
  look: (path: string) => Promise<{ readonly type: number }> = statfs,
): Promise<void> {
  const name = whyUnfit((await look(root)).type);
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
