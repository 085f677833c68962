import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, realpathSync, symlinkSync } from 'node:fs';
import { join, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { root } from './pack.js';

/** The peers that an application without options of its own has. */
const PEERS = ['@nestjs/common', '@nestjs/core', 'reflect-metadata', 'rxjs'];

/** Lets scripts in `folder` import the package that was unpacked in it, and its peers, by their names. */
export function installPacked(folder: string): void {
  const modules = join(folder, 'node_modules');
  mkdirSync(join(modules, '@nestjs'), { recursive: true });
  for (const peer of PEERS) symlinkSync(join(root, 'node_modules', peer), join(modules, peer), 'junction');
  symlinkSync(join(folder, 'package'), join(modules, 'nestjs-zookeeper-lock'), 'junction');
}

export interface ScriptRun {
  readonly stdout: string;
  /** The scripts of the package that were loaded, by their paths inside it. */
  readonly loaded: readonly string[];
}

/** Runs an ES module in `folder` to its end. What V8 counted the coverage of is what was loaded. */
export async function runPacked(folder: string, script: string): Promise<ScriptRun> {
  const coverage = mkdtempSync(join(folder, 'coverage-'));
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '--eval', script], {
    cwd: folder,
    env: { ...process.env, NODE_V8_COVERAGE: coverage, NODE_ENV: 'production' },
    timeout: 60_000,
  });
  const inside = realpathSync(join(folder, 'package')) + sep;
  const urls = readdirSync(coverage).flatMap((name) => {
    const { result } = JSON.parse(readFileSync(join(coverage, name), 'utf8')) as { result: { url: string }[] };
    return result.map(({ url }) => url);
  });
  const paths = urls.filter((url) => url.startsWith('file:')).map((url) => fileURLToPath(url));
  const loaded = paths.filter((path) => path.startsWith(inside)).map((path) => path.slice(inside.length));
  return { stdout, loaded: [...new Set(loaded)].sort() };
}

/** The classes and functions that the simulator is made of, as its sources declare them, and no other source does. */
function simulatorDeclarations(): string[] {
  const lib = join(root, 'lib');
  const files = readdirSync(lib, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.ts'));
  const inside = (file: string): boolean => file.startsWith(join('session', 'simulator'));
  const declared = (wanted: readonly string[]): string[] =>
    wanted.flatMap((file) =>
      [...readFileSync(join(lib, file), 'utf8').matchAll(/\b(class|function) (\w+)/g)].map(([found]) => found),
    );
  const elsewhere = new Set(declared(files.filter((file) => !inside(file))));
  return declared(files.filter(inside)).filter((declaration) => !elsewhere.has(declaration));
}

/** What of the simulator stands in these scripts. */
export function simulatorIn(paths: readonly string[]): string[] {
  const text = paths.map((path) => readFileSync(path, 'utf8')).join('\n');
  const declarations = simulatorDeclarations();
  if (declarations.length < 40) throw new Error('The simulator is not where this looks for its sources.');
  return declarations.filter((declaration) => new RegExp(`\\b${declaration}\\b`).test(text));
}
