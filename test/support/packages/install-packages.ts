import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { cp, mkdir, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { run } from '../find-zookeeper/command.js';

const HERE = import.meta.dirname;
const FILES = ['package.json', 'package-lock.json'];

/**
 * A folder with the packages of a manifest beside this file, for tests that need more than the package's own dependencies: database
 * drivers, ORMs. They are installed once for a machine, from the npm registry and without running their scripts.
 */
export async function packagesFolder(name: 'databases' | 'orms' | 'prisma'): Promise<string> {
  const manifest = join(HERE, name);
  const hash = createHash('sha1');
  for (const file of FILES) hash.update(readFileSync(join(manifest, file)));
  const folder = join(tmpdir(), `nestjs-zookeeper-lock-${name}-${hash.digest('hex').slice(0, 12)}`);
  const installed = join(folder, 'installed');
  if (existsSync(installed)) return folder;
  await mkdir(folder, { recursive: true });
  for (const file of FILES) await cp(join(manifest, file), join(folder, file));
  // Test files run side by side: one installs, and the others wait for it.
  const script = `[ -e "$1/installed" ] || { cd "$1" && npm ci --ignore-scripts --no-audit --no-fund --loglevel=error; }`;
  await run('flock', [`${folder}.lock`, '/bin/sh', '-c', script, 'sh', folder]).catch((error: unknown) => {
    throw new Error(`The tests of ${name} need packages of the npm registry, which cannot be installed.`, {
      cause: error,
    });
  });
  await writeFile(installed, '');
  return folder;
}

/** Loads a package out of such a folder. */
export function loadPackage<Module>(folder: string, name: string): Module {
  return createRequire(join(folder, 'package.json'))(name) as Module;
}
