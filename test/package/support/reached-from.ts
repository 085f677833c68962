import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** The declarations that are read with this one, itself included. */
export function declarationsFrom(path: string): Map<string, string> {
  return reachedFrom(path, /(?:from|import\()\s*['"](\.[^'"]+)\.js['"]/g, '.d.ts');
}

/** The scripts that are loaded with this one, itself included: what `import()` loads later is not among them. */
export function scriptsFrom(path: string): Map<string, string> {
  return reachedFrom(path, /(?:from|^import)\s*['"](\.[^'"]+)\.js['"]/gm, '.js');
}

function reachedFrom(path: string, imports: RegExp, ending: string, seen = new Map<string, string>()) {
  if (seen.has(path)) return seen;
  const text = readFileSync(path, 'utf8');
  seen.set(path, text);
  for (const [, specifier] of text.matchAll(imports)) {
    reachedFrom(join(path, '..', `${specifier}${ending}`), imports, ending, seen);
  }
  return seen;
}
