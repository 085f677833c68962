import { readFileSync } from 'node:fs';
import { join } from 'node:path';

export const productionPage = readFileSync(join(import.meta.dirname, '..', '..', 'docs', 'production.md'), 'utf8');

/** The page's blocks of one language, in order; those of one section where its heading is given. */
export function blocks(language: string, heading?: string): string[] {
  const sections = productionPage.split(/^## /m);
  const section = heading === undefined ? productionPage : sections.find((text) => text.startsWith(`${heading}\n`));
  const fenced = new RegExp(`^\`\`\`${language}\\n([\\s\\S]*?)^\`\`\`$`, 'gm');
  return [...(section ?? '').matchAll(fenced)].map(([, text = '']) => text);
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
