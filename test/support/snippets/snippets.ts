import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';

export const REPOSITORY = fileURLToPath(new URL('../../../', import.meta.url));

const PACKAGES = /from '(?:@aws-sdk|@mikro-orm|drizzle-orm|kysely|typeorm|\.\/generated\/)/;

/** Whether a snippet imports what is no development dependency: the tests of fencing install it, compile the snippet and run it. */
export function needsPackages(snippet: string): boolean {
  return PACKAGES.test(snippet);
}

/** `file.md:line` -> source, of every block marked as TypeScript. */
export function snippetsOf(name: string): Map<string, string> {
  const snippets = new Map<string, string>();
  const text = readFileSync(join(REPOSITORY, name), 'utf8');
  for (const match of text.matchAll(/^```ts\n([\s\S]*?)^```$/gm)) {
    snippets.set(`${name}:${text.slice(0, match.index).split('\n').length + 1}`, match[1]!);
  }
  return snippets;
}

/**
 * Compiles files against the public API, as its reader's compiler would.
 * @param folder where they are said to be, and from where packages are found
 * @returns what is wrong with them
 */
export function compile(sources: ReadonlyMap<string, string>, folder = join(REPOSITORY, 'snippets')): string[] {
  const { config } = ts.readConfigFile(join(REPOSITORY, 'tsconfig.json'), (path) => ts.sys.readFile(path)) as {
    config: object;
  };
  const { options, fileNames } = ts.parseJsonConfigFileContent(config, ts.sys, REPOSITORY);
  // The library itself declares optional peers that are not installed, in files that nothing imports.
  const declarations = fileNames.filter((path) => path.endsWith('.d.ts') && path.startsWith(join(REPOSITORY, 'lib')));
  const lenient: ts.CompilerOptions = { ...options, noEmit: true, noUnusedLocals: false, noUnusedParameters: false };
  // The files may be said to be outside of the repository.
  delete lenient.rootDir;
  const host = ts.createCompilerHost(lenient);
  const virtual = new Map([...sources].map(([name, text]) => [join(folder, name), text]));
  host.fileExists = (path) => virtual.has(path) || ts.sys.fileExists(path);
  host.readFile = (path) => virtual.get(path) ?? ts.sys.readFile(path);
  host.getSourceFile = (path, languageVersion) => {
    const text = host.readFile(path);
    return text === undefined ? undefined : ts.createSourceFile(path, text, languageVersion);
  };
  const folders = new Set([...virtual.keys()].map((path) => dirname(path)));
  host.directoryExists = (path) => folders.has(path) || ts.sys.directoryExists(path);
  const program = ts.createProgram([...declarations, ...virtual.keys()], lenient, host);
  return ts
    .getPreEmitDiagnostics(program)
    .map(
      (diagnostic) =>
        `${diagnostic.file?.fileName ?? ''}: ${ts.flattenDiagnosticMessageText(diagnostic.messageText, ' ')}`,
    );
}
