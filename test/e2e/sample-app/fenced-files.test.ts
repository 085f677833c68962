import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { StaleFencingTokenError } from '../../../lib/index.js';
import { FencedFiles } from '../../../sample-app/files/fenced-files.js';

describe('FencedFiles', () => {
  let dataDir: string;
  let files: FencedFiles;

  beforeEach(async () => {
    dataDir = await mkdtemp(join(tmpdir(), 'fenced-files-test-'));
    files = new FencedFiles({ dataDir });
  });
  afterEach(() => rm(dataDir, { recursive: true, force: true }));

  const read = async (): Promise<string | undefined> => (await files.read('files', 'a'))?.content;

  it('takes equal and higher tokens, and keeps one version', async () => {
    await files.write('files', 'a', 'one', 9n);
    await files.write('files', 'a', 'two', 9n);
    await files.write('files', 'a', 'three', 10n);

    expect(await files.read('files', 'a')).toEqual({ content: 'three', fencingToken: 10n });
    expect(await readdir(join(dataDir, 'files', 'a'))).toEqual(['0000000000000000010']);
  });

  it('refuses a smaller token', async () => {
    await files.write('files', 'a', 'new', 10n);

    await expect(files.write('files', 'a', 'old', 9n)).rejects.toThrow(StaleFencingTokenError);
    expect(await read()).toBe('new');
  });

  it('is not harmed by a stale version that was written between the look and the rename', async () => {
    await files.write('files', 'a', 'new', 10n);
    await writeFile(join(dataDir, 'files', 'a', '9'.padStart(19, '0')), 'old');

    expect(await read()).toBe('new');
  });

  it('ignores what a crash in the middle of a write left', async () => {
    await files.write('files', 'a', 'whole', 10n);
    await writeFile(join(dataDir, 'files', 'a', `${'11'.padStart(19, '0')}-x.tmp`), 'ha');

    expect(await read()).toBe('whole');
  });
});
