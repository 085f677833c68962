import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from '@jest/globals';
import ts from 'typescript';

const LIB = join(import.meta.dirname, '..', '..', 'lib');

/** What reads as if it had been translated: whoever looks for the cause of an outage must not have to read it twice. */
const TRANSLATED =
  /to be had|\bbears?\b|\bgoes back\b|(?<!there )\bis no (option|setting|method|object|route)\b|of another make|\btold of\b/;

/** The texts between quotes, or in templates, of one file. */
function textsOf(path: string): string[] {
  const texts: string[] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isStringLiteralLike(node) || ts.isTemplateHead(node) || ts.isTemplateMiddleOrTemplateTail(node)) {
      texts.push(node.text);
    }
    ts.forEachChild(node, visit);
  };
  visit(ts.createSourceFile(path, readFileSync(path, 'utf8'), ts.ScriptTarget.ES2022));
  return texts;
}

it('No text of the library that people read sounds translated', () => {
  const files = readdirSync(LIB, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.ts'));
  const found = files.flatMap((name) =>
    textsOf(join(LIB, name)).flatMap((text) => (TRANSLATED.test(text) ? [`${name}: ${text}`] : [])),
  );

  expect(files.length).toBeGreaterThan(100);
  expect(found).toEqual([]);
});
