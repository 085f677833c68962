import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { run } from '../../find-zookeeper/command.js';
import { TYPESCRIPT_FLAGS } from '../../typescript/flags.js';
import { compile, snippetsOf } from '../../snippets/snippets.js';
import type { SqlPlace } from '../sql/sql-world.js';
import { type OrmApplication, SCRIPT } from './applications.js';

const PAGE = 'docs/fencing-transactions.md';

export interface Write {
  readonly token: bigint;
  readonly id: number;
}

/** The snippet of an ORM, and the application around it. @param dialect adds to the snippet what its page says to add */
function filesOf({ imports, files }: OrmApplication, dialect: SqlPlace['dialect']): Map<string, string> {
  const found = [...snippetsOf(PAGE).values()].filter((text) => text.includes(imports));
  if (found.length !== 1) throw new Error(`${PAGE} has ${found.length} snippets with ${imports}`);
  const called = dialect === 'postgres' ? 'lock.key, lock)' : `lock.key, lock, { dialect: '${dialect}' })`;
  const snippet = found[0]!.replace('lock.key, lock)', called);
  return new Map([...Object.entries(files), ['snippet.ts', snippet], ['script.ts', SCRIPT]]);
}

/** What the compiler says against applications with their snippets as they stand in the page. */
export function compileSnippets(packages: string, applications: readonly OrmApplication[]): string[] {
  const sources = applications.flatMap((application) =>
    [...filesOf(application, 'postgres')]
      .filter(([name]) => name.endsWith('.ts'))
      .map(([name, text]) => [join(application.name, name), text] as const),
  );
  return compile(new Map(sources), packages);
}

/** An application in a folder of its own. */
export class SnippetApplication {
  private constructor(readonly folder: string) {}

  /** @param packages where the ORM is installed */
  static async make(
    packages: string,
    application: OrmApplication,
    dialect: SqlPlace['dialect'],
  ): Promise<SnippetApplication> {
    const folder = await mkdtemp(join(packages, 'application-'));
    for (const [name, text] of filesOf(application, dialect)) await writeFile(join(folder, name), text);
    return new SnippetApplication(folder);
  }

  /** Runs a program of the installed packages in the folder. */
  async execute(script: string, args: readonly string[], env: Readonly<Record<string, string>>): Promise<void> {
    await run('env', ['-C', this.folder, process.execPath, join(this.folder, '..', 'node_modules', script), ...args], {
      env: { ...process.env, ...env },
    });
  }

  /** The outcome of each write; those of a round run at once, round after round. */
  async write(place: SqlPlace, rounds: readonly (readonly Write[])[]): Promise<string[][]> {
    const asText = rounds.map((round) => round.map(({ token, id }) => ({ token: token.toString(), id })));
    const settings = JSON.stringify({ place, rounds: asText });
    const printed = await run(process.execPath, [...TYPESCRIPT_FLAGS, join(this.folder, 'script.ts'), settings]);
    return JSON.parse(printed.trim().split('\n').at(-1) ?? '') as string[][];
  }

  /** What the compiler says against it, with all that was generated in the folder. */
  async compile(): Promise<string[]> {
    const names = (await readdir(this.folder, { recursive: true })).filter((name) => name.endsWith('.ts'));
    const texts = await Promise.all(names.map((name) => readFile(join(this.folder, name), 'utf8')));
    return compile(new Map(names.map((name, index) => [name, texts[index] ?? ''])), this.folder);
  }

  async remove(): Promise<void> {
    await rm(this.folder, { recursive: true, force: true });
  }
}
