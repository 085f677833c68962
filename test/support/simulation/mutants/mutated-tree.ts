import { transformSync } from '@swc/core';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Edit } from './mutant.js';

const REPOSITORY = fileURLToPath(new URL('../../../../', import.meta.url));
/** What a schedule is made of, product and harness. */
const SOURCES = [
  'lib/lock',
  'lib/queue',
  'lib/engine',
  'lib/session',
  'lib/extras/doctor',
  'test/support/simulation',
  'test/support/command-line',
];

/** The one class that errors need of Nest: to load all of Nest takes a process longer than most mistakes take to show. */
const OF_NEST = ["'@nestjs/common'", "'@nestjs/common/exceptions/intrinsic.exception.js'"] as const;

/** The sources as plain JavaScript in a directory of their own, with mistakes built in. */
export class MutatedTree implements Disposable {
  readonly directory = mkdtempSync(join(tmpdir(), 'mutant-'));
  readonly entry = join(this.directory, 'test/support/simulation/simulate.js');

  constructor(edits: readonly Edit[]) {
    for (const source of compiledSources()) this.#write(source.replace(/\.ts$/, '.js'), compiled(source, edits));
    this.#write('package.json', '{ "type": "module" }');
    symlinkSync(join(REPOSITORY, 'node_modules'), join(this.directory, 'node_modules'));
  }

  [Symbol.dispose](): void {
    rmSync(this.directory, { recursive: true });
  }

  #write(path: string, text: string): void {
    const target = join(this.directory, path);
    mkdirSync(dirname(target), { recursive: true });
    writeFileSync(target, text);
  }
}

const compiledOnce = new Map<string, string>();

function compiledSources(): string[] {
  return SOURCES.flatMap((root) =>
    readdirSync(join(REPOSITORY, root), { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.ts'))
      .map((name) => `${root}/${name}`),
  );
}

function compiled(source: string, edits: readonly Edit[]): string {
  const ofThis = edits.filter(({ file }) => file === source);
  const known = compiledOnce.get(source);
  if (known !== undefined && ofThis.length === 0) return known;
  const { code } = transformSync(edited(source, ofThis).replace(...OF_NEST), {
    filename: source,
    configFile: false,
    swcrc: false,
    jsc: { target: 'es2022', parser: { syntax: 'typescript' } },
    module: { type: 'es6' },
  });
  if (ofThis.length === 0) compiledOnce.set(source, code);
  return code;
}

/** The text of a source with these mistakes in it; throws where the place of one is not to be found. */
export function edited(source: string, edits: readonly Edit[]): string {
  let text = readFileSync(join(REPOSITORY, source), 'utf8');
  for (const edit of edits) text = replaceOnce(text, edit);
  return text;
}

function replaceOnce(text: string, { file, find, replace }: Edit): string {
  const parts = text.split(find);
  if (parts.length !== 2)
    throw new Error(`${file} has this ${parts.length - 1} times, not once, so no mistake can be made there: ${find}`);
  return parts.join(replace);
}
