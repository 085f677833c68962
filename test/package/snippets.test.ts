import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from '@jest/globals';
import ts from 'typescript';

const REPOSITORY = fileURLToPath(new URL('../../', import.meta.url));

/** What the snippets import of the reader's own application. */
const STAND_INS: Readonly<Record<string, string>> = {
  'ledger.ts': `export class Ledger {
    async settle(_id: string, _options: { token: bigint; signal: AbortSignal }): Promise<void> {}
  }`,
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

/** `file.md:line` -> source, of every block marked as TypeScript. */
function snippetsOf(name: string): Map<string, string> {
  const snippets = new Map<string, string>();
  const text = readFileSync(join(REPOSITORY, name), 'utf8');
  for (const match of text.matchAll(/^```ts\n([\s\S]*?)^```$/gm)) {
    snippets.set(`${name}:${text.slice(0, match.index).split('\n').length + 1}`, match[1]!);
  }
  return snippets;
}

function compile(sources: ReadonlyMap<string, string>): string[] {
  const { config } = ts.readConfigFile(join(REPOSITORY, 'tsconfig.json'), (path) => ts.sys.readFile(path)) as {
    config: object;
  };
  const { options } = ts.parseJsonConfigFileContent(config, ts.sys, REPOSITORY);
  const lenient = { ...options, noEmit: true, noUnusedLocals: false, noUnusedParameters: false };
  const host = ts.createCompilerHost(lenient);
  const folder = resolve(REPOSITORY, 'snippets');
  const virtual = new Map([...sources].map(([name, text]) => [join(folder, name), text]));
  host.fileExists = (path) => virtual.has(path) || ts.sys.fileExists(path);
  host.readFile = (path) => virtual.get(path) ?? ts.sys.readFile(path);
  host.getSourceFile = (path, languageVersion) => {
    const text = host.readFile(path);
    return text === undefined ? undefined : ts.createSourceFile(path, text, languageVersion);
  };
  host.directoryExists = (path) => path === folder || ts.sys.directoryExists(path);
  const program = ts.createProgram([...virtual.keys()], lenient, host);
  return ts
    .getPreEmitDiagnostics(program)
    .map(
      (diagnostic) =>
        `${diagnostic.file?.fileName ?? ''}: ${ts.flattenDiagnosticMessageText(diagnostic.messageText, ' ')}`,
    );
}

describe('What the documentation shows', () => {
  const folders = ['docs', 'contributing'];
  const deeper = folders.flatMap((folder) => readdirSync(join(REPOSITORY, folder)).map((name) => `${folder}/${name}`));
  const pages = ['README.md', ...deeper];
  const snippets = new Map(pages.flatMap((page) => [...snippetsOf(page)]));
  const files = new Map([...snippets].map(([where, text]) => [`${where.replace(/\W+/g, '-')}.ts`, text]));

  it('is found', () => {
    expect([...snippets.keys()].filter((where) => where.startsWith('README.md')).length).toBeGreaterThan(8);
  });

  it('compiles against the public API', () => {
    expect(compile(new Map([...files, ...Object.entries(STAND_INS)]))).toEqual([]);
  }, 600_000);

  it('would be noticed if it did not', () => {
    const wrong = new Map([
      ['wrong.ts', `import { LockService } from 'nestjs-zookeeper-lock';\nexport const x: LockService = 1;`],
    ]);
    expect(compile(wrong)).toEqual([expect.stringContaining('not assignable')]);
  }, 600_000);

  it('leaves the README a page that is read', () => {
    expect(readFileSync(join(REPOSITORY, 'README.md'), 'utf8').split('\n').length).toBeLessThan(425);
  });
});
