import { readFileSync } from 'node:fs';
import { join } from 'node:path';

export const productionPage = readFileSync(join(import.meta.dirname, '..', '..', 'docs', 'production.md'), 'utf8');

/** The page's blocks of one language, in order. */
export function blocks(language: string): string[] {
  const fenced = new RegExp(`^\`\`\`${language}\\n([\\s\\S]*?)^\`\`\`$`, 'gm');
  return [...productionPage.matchAll(fenced)].map(([, text = '']) => text);
}
