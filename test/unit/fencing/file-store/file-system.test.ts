import { mkdir, readdir } from 'node:fs/promises';
import { describe, expect, it } from '@jest/globals';
import { refuseUnfitFileSystem, refuseWithoutLinks } from '../../../../lib/fencing/file-store/disk.js';
import { LockConfigurationError } from '../../../../lib/lock/errors.js';
import { temporaryRoot } from './support/temporary-root.js';

describe('the file system of a store', () => {
  it.each([
    [0x6969, 'NFS'],
    [0x517b, 'SMB'],
    [0xff534d42, 'SMB/CIFS'],
    // On some systems the number comes with a sign.
    [0xff534d42 | 0, 'SMB/CIFS'],
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
    [0xbacbacbc | 0, 'vmhgfs'],
  ])('is refused where two hosts could overwrite each other: %i', async (type, name) => {
    const refused = refuseUnfitFileSystem('/data', async () => ({ type }));
    await expect(refused).rejects.toThrow(`/data is on ${name}. `);
  });

  it.each([
    ['ext4', 0xef53],
    ['xfs', 0x58465342],
    ['btrfs', 0x9123683e],
    ['tmpfs', 0x01021994],
    ['overlay', 0x794c7630],
    ['one of another system', 0x1a],
  ])('is good when it is %s', async (_name, type) => {
    await refuseUnfitFileSystem('/data', async () => ({ type }));
  });

  it('is named, with what to do instead', async () => {
    const refused = refuseUnfitFileSystem('/data', async () => ({ type: 0x6969 }));
    await expect(refused).rejects.toThrow(LockConfigurationError);
    await expect(refused).rejects.toThrow(/^FencedFileStore: \/data is on NFS\..*trustFileSystem: true/);
  });

  it.each(['EPERM', 'EOPNOTSUPP', 'ENOSYS'])('is refused when it makes no hard links (%s)', async (code) => {
    const root = temporaryRoot();
    await mkdir(root);
    const refused = refuseWithoutLinks(root, async () => failWith(code));

    await expect(refused).rejects.toThrow(LockConfigurationError);
    await expect(refused).rejects.toThrow('makes no hard links');
    await expect(refused).rejects.toMatchObject({ cause: { code } });
    expect(await readdir(root)).toEqual([]);
  });

  it('is not refused when it does, or when it is full: what is there can be read', async () => {
    const root = temporaryRoot();
    await mkdir(root);
    await refuseWithoutLinks(root);
    await refuseWithoutLinks(root, async () => failWith('ENOSPC'));
    expect(await readdir(root)).toEqual([]);
  });
});

function failWith(code: string): never {
  throw Object.assign(new Error(code), { code });
}
