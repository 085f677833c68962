import { readFileSync } from 'node:fs';
import { join } from 'node:path';

export const productionPage = readFileSync(join(import.meta.dirname, '..', '..', 'docs', 'production.md'), 'utf8');

/** The page's blocks of one language, in order. */
export function blocks(language: string): string[] {
  const fenced = new RegExp(`^\`\`\`${language}\\n([\\s\\S]*?)^\`\`\`$`, 'gm');
  return [...productionPage.matchAll(fenced)].map(([, text = '']) => text);
}

/** A `.properties` text without what decides where a server is, and who its peers are: that is the test's own. */
export function settings(
  properties: string,
  replacements: Readonly<Record<string, string>> = {},
): Record<string, string> {
  const lines = properties.trim().split('\n');
  const pairs = lines.map((line) => [line.slice(0, line.indexOf('=')), line.slice(line.indexOf('=') + 1)] as const);
  const kept = pairs.filter(([name]) => !/^(server\.\d|dataDir|dataLogDir)$/.test(name));
  return Object.fromEntries(kept.map(([name, value]) => [name, replacements[value] ?? value]));
}
