import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it } from '@jest/globals';
import { FencedFileStore } from '../../../lib/fencing/file-store/fenced-file-store.js';
import { folderRemoved, removeWithUs } from '../../support/process/reaper.js';
import { compileScript } from '../../support/typescript/compiled-script.js';

/** The limit for the size of a file does what a full disk does: the first write is cut short, the next fails. */
const WITH_LIMIT = 'ulimit -f 32 && exec "$@"';

describe('a write for which there is no room', () => {
  it('is an error, counts for nobody, and harms nothing before and after it', async () => {
    const root = await mkdtemp(join(tmpdir(), 'file-store-full-'));
    removeWithUs(root);
    const script = await compileScript(new URL('./file-store/full-disk-script.ts', import.meta.url));
    const command = [process.execPath, script.path, root];
    const { stdout } = await promisify(execFile)('/bin/sh', ['-c', WITH_LIMIT, 'sh', ...command]);

    expect(JSON.parse(stdout)).toEqual([
      'done',
      expect.stringMatching(/^Error: Only \d+ of 1\d{5} bytes could be added to .*journal\.0: the disk is full/),
      expect.stringContaining('EFBIG'),
      'fits',
      '1',
    ]);
    await using store = await FencedFileStore.open({ root });
    await store.append('a', ', and more', 2n);
    expect(await store.read('a')).toEqual({ content: Buffer.from('fits, and more'), fencingToken: 2n });
    for (const folder of [root, script.folder]) {
      await rm(folder, { recursive: true, force: true });
      folderRemoved(folder);
    }
  });
});
