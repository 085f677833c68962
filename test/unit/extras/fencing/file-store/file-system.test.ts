import { describe, expect, it } from '@jest/globals';
import { refuseUnfitFileSystem, whyUnfit } from '../../../../../lib/extras/fencing/file-store/file-system.js';
import { LockConfigurationError } from '../../../../../lib/lock/errors.js';

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
  ])('is refused where two hosts could overwrite each other: %i', (type, name) => {
    expect(whyUnfit(type)).toBe(name);
  });

  it.each([
    ['ext4', 0xef53],
    ['xfs', 0x58465342],
    ['btrfs', 0x9123683e],
    ['tmpfs', 0x01021994],
    ['overlay', 0x794c7630],
    ['one of another system', 0x1a],
  ])('is good when it is %s', (_name, type) => {
    expect(whyUnfit(type)).toBeUndefined();
  });

  it('is named, with what to do instead', async () => {
    const refused = refuseUnfitFileSystem('/data', async () => ({ type: 0x6969 }));
    await expect(refused).rejects.toThrow(LockConfigurationError);
    await expect(refused).rejects.toThrow(/^FencedFileStore: \/data is on NFS\..*trustFileSystem: true/);
    await refuseUnfitFileSystem('/data', async () => ({ type: 0xef53 }));
  });
});
