import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import ts from 'typescript';

const REPOSITORY = join(import.meta.dirname, '..', '..', '..');
const LEVELS = ['log', 'warn', 'error'];
/** A shorter piece between two values, such as ` (`, is nothing that anybody looks for. */
const LEAST_LENGTH = 8;
/** Functions that make lines for a logger elsewhere. */
const MAKERS = ['describeAlert'];

/** Every piece of fixed text that a source passes to a logger, above the level debug. */
function textsToLoggers(path: string, source: string): string[] {
  const file = ts.createSourceFile(path, source, ts.ScriptTarget.Latest, true);
  const constants = new Map<string, ts.Expression>();
  const texts: string[] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isVariableDeclaration(node) && ts.isIdentifier(node.name) && node.initializer !== undefined) {
      constants.set(node.name.text, node.initializer);
    }
    if (ts.isCallExpression(node) && isToLogger(node.expression)) {
      const [first, ...others] = node.arguments.flatMap((argument) => piecesOf(argument));
      // The first of `#warnOnce` is what is told once.
      if (first !== undefined && !node.expression.getText().endsWith('#warnOnce')) texts.push(first);
      texts.push(...others);
    }
    if (ts.isFunctionDeclaration(node) && MAKERS.includes(node.name?.text ?? '')) {
      node.body?.forEachChild((statement) => void texts.push(...piecesOf(statement)));
    }
    ts.forEachChild(node, visit);
  };
  const piecesOf = (node: ts.Node): string[] => {
    if (ts.isStringLiteralLike(node)) return [node.text];
    if (ts.isTemplateHead(node) || ts.isTemplateMiddle(node) || ts.isTemplateTail(node)) return [node.text];
    if (ts.isIdentifier(node)) {
      const value = constants.get(node.text);
      constants.delete(node.text);
      return value === undefined ? [] : piecesOf(value);
    }
    const pieces: string[] = [];
    node.forEachChild((child) => void pieces.push(...piecesOf(child)));
    return pieces;
  };
  visit(file);
  return texts
    .map((text) => text.replace(/^[\s:;,.()]+|[\s:;,.(]+$/g, ''))
    .filter((text) => text.length >= LEAST_LENGTH);
}

function isToLogger(callee: ts.Expression): boolean {
  if (['this.#warn', 'this.#warnOnce'].includes(callee.getText())) return true;
  if (!ts.isPropertyAccessExpression(callee) || !LEVELS.includes(callee.name.text)) return false;
  return /logger/i.test(callee.expression.getText());
}

describe('what goes to the log', () => {
  const lib = join(REPOSITORY, 'lib');
  const sources = readdirSync(lib, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.ts'));
  const texts = sources.flatMap((name) => textsToLoggers(name, readFileSync(join(lib, name), 'utf8')));

  it('is explained on the page about production, line by line', () => {
    const page = readFileSync(join(REPOSITORY, 'docs', 'production.md'), 'utf8').replace(/\s+/g, ' ');

    expect(texts.length).toBeGreaterThan(15);
    expect(texts.filter((text) => !page.includes(text))).toEqual([]);
  });

  it('would be missed if it were not', () => {
    const source = `const more = 'more of the same';
      this.#logger.warn(\`\${a}: the first part \${b} and the second \` + 'which goes on');
      new Logger('X').error(broken ? 'one thing is broken' : \`another is: \${more}\`);
      logger.debug('nobody need explain this');
      this.#warn('this everybody should know');
      this.#warnOnce('something', 'which happens often');
      function describeAlert(alert) { return alert.isOld ? 'an old alert' : \`a new alert of \${alert.key}\`; }`;

    expect(textsToLoggers('x.ts', source)).toEqual([
      'the first part',
      'and the second',
      'which goes on',
      'one thing is broken',
      'another is',
      'more of the same',
      'this everybody should know',
      'which happens often',
      'an old alert',
      'a new alert of',
    ]);
  });
});
