import { mkdir, mkdtemp, readFile, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { transform } from '@swc/core';
import { removeWithUs } from '../process/reaper.js';

const REPOSITORY = fileURLToPath(new URL('../../../', import.meta.url));
/** The one class of Nest that the errors need: with all of Nest a process takes three times as long to start. */
const NEST = 'export class IntrinsicException extends Error {}\n';

export interface CompiledScript {
  readonly path: string;
  readonly folder: string;
}

/** What a script needs beside the modules that it imports by name. */
export interface ScriptNeeds {
  /** Packages of npm. */
  readonly packages?: readonly string[];
  /** Modules of this repository that it loads on demand. */
  readonly loads?: readonly URL[];
}

/**
 * A script and all it imports as plain JavaScript. Two hundred processes that compile for themselves would keep a machine
 * busy for minutes.
 */
export async function compileScript(
  script: URL,
  { packages = [], loads = [] }: ScriptNeeds = {},
): Promise<CompiledScript> {
  const folder = await mkdtemp(join(tmpdir(), 'compiled-script-'));
  removeWithUs(folder);
  const compiled = new Set<string>();
  for (const each of [script, ...loads]) await compileFile(fileURLToPath(each), folder, compiled);
  const nest = join(folder, 'node_modules', '@nestjs', 'common');
  await mkdir(nest, { recursive: true });
  await writeFile(join(nest, 'index.js'), NEST);
  await writeFile(join(nest, 'package.json'), '{ "type": "module", "exports": "./index.js" }');
  for (const name of packages)
    await symlink(join(REPOSITORY, 'node_modules', name), join(folder, 'node_modules', name));
  await writeFile(join(folder, 'package.json'), '{ "type": "module" }');
  return { path: targetOf(fileURLToPath(script), folder), folder };
}

async function compileFile(path: string, folder: string, compiled: Set<string>): Promise<void> {
  if (compiled.has(path)) return;
  compiled.add(path);
  const { code } = await transform(await readFile(path, 'utf8'), {
    jsc: { target: 'es2022', parser: { syntax: 'typescript', decorators: true } },
  });
  const target = targetOf(path, folder);
  await mkdir(dirname(target), { recursive: true });
  await writeFile(target, code);
  const imports = [...code.matchAll(/from ['"](\.{1,2}\/[^'"]+)\.js['"]/g)].map(([, name]) => name!);
  await Promise.all(imports.map((name) => compileFile(join(dirname(path), `${name}.ts`), folder, compiled)));
}

function targetOf(path: string, folder: string): string {
  return join(folder, relative(REPOSITORY, path)).replace(/\.ts$/, '.js');
}
