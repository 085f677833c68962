import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { fileNameOf, recipes, STAND_INS as PARTS_OF_RECIPES } from '../support/recipes/recipe-folder.js';
import { compile, needsPackages, REPOSITORY, snippetsOf } from '../support/snippets/snippets.js';

/** What the snippets import of the reader's own application. */
const STAND_INS: Readonly<Record<string, string>> = {
  'ledger.ts': `export class Ledger {
    async settle(_id: string, _options: { token: bigint; signal: AbortSignal }): Promise<void> {}
  }`,
  'payouts.ts': `export class Payouts { async pay(): Promise<void> {} }`,
  'transactional.ts': `export const Transactional = (): MethodDecorator => () => undefined;`,
  // Of redlock 5, what the page about it shows.
  'redlock.d.ts': `declare module 'redlock' {
    interface Lock { extend(durationMs: number): Promise<Lock>; release(): Promise<unknown> }
    export default class Redlock {
      acquire(resources: string[], durationMs: number): Promise<Lock>;
      using<T>(resources: string[], durationMs: number, settings: { retryCount?: number }, routine: () => Promise<T>): Promise<T>;
      using<T>(resources: string[], durationMs: number, routine: (signal: AbortSignal & { error?: Error }) => Promise<T>): Promise<T>;
    }
  }`,
  'settings.ts': `import { Module } from '@nestjs/common';
  export class Settings { readonly zookeeper: string = 'zk:2181'; }
  @Module({ providers: [Settings], exports: [Settings] }) export class SettingsModule {}`,
};

/** What the recipes import: parts of the reader's application, and one another. */
function importedByRecipes(): [name: string, text: string][] {
  const parts = readdirSync(PARTS_OF_RECIPES).map((name): [string, string] => [
    name,
    readFileSync(join(PARTS_OF_RECIPES, name), 'utf8'),
  ]);
  return [...parts, ...[...recipes()].map(([name, text]): [string, string] => [`${fileNameOf(name)}.ts`, text])];
}

describe('What the documentation shows', () => {
  const folders = ['docs', 'contributing'];
  const deeper = folders.flatMap((folder) =>
    readdirSync(join(REPOSITORY, folder)).flatMap((name) => (name.endsWith('.md') ? [`${folder}/${name}`] : [])),
  );
  const pages = ['README.md', ...deeper];
  const snippets = new Map(pages.flatMap((page) => [...snippetsOf(page)]));
  const here = [...snippets].filter(([, text]) => !needsPackages(text));
  const files = new Map(here.map(([where, text]) => [`${where.replace(/\W+/g, '-')}.ts`, text]));

  it('is found', () => {
    expect([...snippets.keys()].filter((where) => where.startsWith('README.md')).length).toBeGreaterThan(8);
  });

  it('compiles against the public API', () => {
    expect(compile(new Map([...files, ...Object.entries(STAND_INS), ...importedByRecipes()]))).toEqual([]);
  }, 600_000);

  it('would be noticed if it did not', () => {
    const wrong = new Map([
      ['wrong.ts', `import { LockService } from 'nestjs-zookeeper-lock';\nexport const x: LockService = 1;`],
    ]);
    expect(compile(wrong)).toEqual([expect.stringContaining('not assignable')]);
  }, 600_000);

  it('leaves the README a page that is read', () => {
    expect(readFileSync(join(REPOSITORY, 'README.md'), 'utf8').split('\n').length).toBeLessThan(435);
  });
});
