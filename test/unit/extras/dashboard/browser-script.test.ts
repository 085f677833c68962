import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import js from '@eslint/js';
import { describe, expect, it } from '@jest/globals';
import { Linter } from 'eslint';
import ts from 'typescript';
import { SCRIPT } from '../../../../lib/extras/dashboard/assets/script.js';
import { STYLE } from '../../../../lib/extras/dashboard/assets/style.js';

/** What of a browser the script uses. */
const GLOBALS = ['document', 'window', 'location', 'fetch', 'DOMParser', 'Element', 'HTMLElement', 'EventSource'];

function complaints(script: string): string[] {
  const globals = Object.fromEntries(GLOBALS.map((name) => [name, 'readonly' as const]));
  const languageOptions = { sourceType: 'script' as const, ecmaVersion: 2022 as const, globals };
  const found = new Linter().verify(script, [js.configs.recommended, { languageOptions }]);
  return found.map(({ line, message }) => `${line}: ${message}`);
}

/** Mistakes by the browser's types. Parameters have none in a script, and elements that the page has are there. */
function typeErrors(script: string): string[] {
  const folder = mkdtempSync(join(tmpdir(), 'browser-script-'));
  const file = join(folder, 'script.js');
  writeFileSync(file, script);
  const program = ts.createProgram([file], {
    allowJs: true,
    checkJs: true,
    noEmit: true,
    strict: true,
    strictNullChecks: false,
    noImplicitAny: false,
    target: ts.ScriptTarget.ES2022,
    lib: ['lib.es2022.d.ts', 'lib.dom.d.ts', 'lib.dom.iterable.d.ts'],
    types: [],
  });
  const found = ts
    .getPreEmitDiagnostics(program)
    .map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, ' '));
  rmSync(folder, { recursive: true });
  return found;
}

describe('The script of the dashboard', () => {
  it('has nothing that the linter or the browser’s types would tell', () => {
    expect(complaints(SCRIPT)).toEqual([]);
    expect(typeErrors(SCRIPT)).toEqual([]);
  }, 60_000);

  it('draws complaints of the linter and of the browser’s types, if a name in it is unused or misspelt', () => {
    expect(complaints(`const unused = 1; windows.x = 1;`)).toHaveLength(2);
    expect(typeErrors(`document.querySelectr('a');`)).toEqual([expect.stringContaining('querySelectr')]);
  }, 60_000);

  it('asks no other server for anything, as its style sheet does not, and makes no code of texts', () => {
    expect(SCRIPT + STYLE).not.toMatch(/https?:|\/\/\w|@import|url\(|innerHTML|eval|document\.write/);
  });
});
