import { statfs } from 'node:fs/promises';
import { LockConfigurationError } from '../../../lock/errors.js';

/** By the numbers of Linux. Those of other systems mean other things, or nothing. */
const UNFIT: ReadonlyMap<number, string> = new Map([
  [0x6969, 'NFS'],
  [0x517b, 'SMB'],
  [0xff534d42, 'SMB/CIFS'],
  [0xfe534d42, 'SMB2'],
  [0x01021997, '9p'],
  [0x65735546, 'FUSE'],
]);

export function whyUnfit(type: number): string | undefined {
  return UNFIT.get(type >>> 0);
}

/** @throws LockConfigurationError where several hosts can overwrite what each other appends */
export async function refuseUnfitFileSystem(
  root: string,
  look: (path: string) => Promise<{ readonly type: number }> = statfs,
): Promise<void> {
  const name = whyUnfit((await look(root)).type);
  if (name === undefined) return;
  throw new LockConfigurationError(
    `FencedFileStore: ${root} is on ${name}. Its clients look up the end of a file first and write there afterwards, so two ` +
      'hosts can overwrite what the other has acknowledged. Use a file system that one kernel has mounted (a local disk, or ' +
      'a block device such as EBS or iSCSI), or a database (docs/fencing-stores.md). If you know that yours appends ' +
      'atomically for all who mount it, pass trustFileSystem: true',
  );
}
