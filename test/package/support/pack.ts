import { execFile } from 'node:child_process';
import { cpSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

export const root = join(import.meta.dirname, '..', '..', '..');

/** Of a build before this one: a module that the sources no longer have. */
export const LEFTOVER = 'moved-away.js';

export interface PackedPackage {
  readonly tarball: string;
  /** By their path inside the package. */
  readonly files: readonly string[];
}

/**
 * Builds and packs the library into `folder` as `npm pack` does, from a copy of what that needs: the build in the working
 * tree may be in use, and may be old. The copy has something of an older one.
 */
export async function pack(folder: string): Promise<PackedPackage> {
  const copy = join(folder, 'source');
  mkdirSync(copy);
  const { files } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { files: string[] };
  const documents = ['README.md', 'LICENSE', ...files.filter((name) => !/^(?:dist|!)/.test(name))];
  for (const name of [
    'lib',
    'package.json',
    'tsconfig.base.json',
    'tsconfig.lib.json',
    'tsconfig.lib-cjs.json',
    ...documents,
  ]) {
    cpSync(join(root, name), join(copy, name), { recursive: true });
  }
  // Pages that are for the repository alone stay out, also where the copy begins without them.
  for (const name of files.filter((one) => one.startsWith('!'))) writeFileSync(join(copy, name.slice(1)), 'For us.\n');
  for (const name of ['build-lib.js', 'build-cjs.js']) cpSync(join(root, 'scripts', name), join(copy, 'scripts', name));
  symlinkSync(join(root, 'node_modules'), join(copy, 'node_modules'), 'junction');
  for (const build of ['lib', 'cjs']) {
    mkdirSync(join(copy, 'dist', build), { recursive: true });
    writeFileSync(join(copy, 'dist', build, LEFTOVER), '');
  }
  const { stdout } = await run('npm', ['pack', '--json', '--silent', '--pack-destination', folder], { cwd: copy });
  const [report] = JSON.parse(stdout) as { filename: string; files: { path: string }[] }[];
  if (report === undefined) throw new Error(`npm pack reported nothing: ${stdout}`);
  return { tarball: join(folder, report.filename), files: report.files.map(({ path }) => path) };
}
