import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll } from '@jest/globals';

let count = 0;
let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'file-store-test-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

/** A folder that does not exist yet, and is removed with all others when the test file ends. */
export function temporaryRoot(): string {
  count += 1;
  return join(folder, `root-${count}`);
}
