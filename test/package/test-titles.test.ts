import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import ts from 'typescript';

const TESTS = join(import.meta.dirname, '..');

/** A title that begins so is a part of a sentence whose beginning stands elsewhere; nobody can read it in a list. */
const PART_OF_A_SENTENCE = new RegExp(
  `^(${[
    ...['about', 'above', 'across', 'after', 'against', 'along', 'and', 'as', 'at', 'because', 'before', 'behind'],
    ...['below', 'beside', 'between', 'beyond', 'but', 'by', 'during', 'except', 'for', 'from', 'if', 'in', 'inside'],
    ...['into', 'like', 'near', 'nor', 'not', 'of', 'on', 'once', 'only', 'or', 'outside', 'over', 'since', 'so'],
    ...['than', 'that', 'though', 'through', 'to', 'under', 'unless', 'until', 'when', 'where', 'while', 'whose'],
    ...['with', 'within', 'without', 'also'],
  ].join('|')})\\b`,
  'i',
);

/** The titles of the tests in a file, as they are written. */
function titlesOf(path: string): string[] {
  const text = readFileSync(path, 'utf8');
  const source = ts.createSourceFile(path, text, ts.ScriptTarget.ES2022);
  const titles: string[] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isCallExpression(node) && /^(?:it|test)\b/.test(node.expression.getText(source))) {
      const [title] = node.arguments;
      if (title !== undefined && (ts.isStringLiteralLike(title) || ts.isTemplateExpression(title)))
        titles.push(title.getText(source).slice(1, -1));
    }
    ts.forEachChild(node, visit);
  };
  visit(source);
  return titles;
}

describe('The title of a test', () => {
  it('begins with no preposition, and with no conjunction', () => {
    const files = readdirSync(TESTS, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.ts'));
    const titles = files.flatMap((name) => titlesOf(join(TESTS, name)).map((title) => ({ name, title })));

    expect(titles.length).toBeGreaterThan(2_000);
    expect(titles.filter(({ title }) => PART_OF_A_SENTENCE.test(title))).toEqual([]);
  });
});
