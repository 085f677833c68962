import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { type Manifest, packageOf } from './import-rules/packages.js';

const ROOT = join(import.meta.dirname, '..', '..');
const LIB = join(ROOT, 'lib');

const { peerDependencies = {} } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as Manifest;
const readme = readFileSync(join(ROOT, 'README.md'), 'utf8');

/** The texts in backticks; a bar is escaped in a table. */
const quoted = (cell: string): string[] =>
  [...cell.matchAll(/`([^`]+)`/g)].map(([, text]) => text!.replaceAll('\\|', '|'));

/** The README's table: each package with its versions, or with nothing where any will do. */
function worksWith(): Map<string, string | undefined> {
  const [section = ''] = readme.split('\n## Works with\n')[1]?.split('\n## ') ?? [];
  const rows = section.split('\n').filter((line) => line.startsWith('| ') && !line.startsWith('| package'));
  return new Map(
    rows.flatMap((row) => {
      const [, names = '', versions = ''] = row.split(/(?<!\\)\|/);
      const ranges = quoted(versions);
      return quoted(names).map((name, index) => [name, ranges[index] ?? ranges[0]] as const);
    }),
  );
}

/** The packages that the sources import, or say in a hover text that an application imports. */
function namedInImports(): Set<string> {
  const files = readdirSync(LIB, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.ts'));
  const specifiers = files.flatMap((name) =>
    [...readFileSync(join(LIB, name), 'utf8').matchAll(/(?:from |import\()'([@\w][^']*)'/g)].map(([, one]) => one!),
  );
  const others = specifiers.filter((one) => !one.startsWith('node:') && !one.startsWith('nestjs-zookeeper-lock'));
  return new Set(others.map(packageOf));
}

describe('The packages that this one works with', () => {
  it('stand in the README with the versions that package.json asks for, and no others', () => {
    const versions = [...worksWith()].filter(([, range]) => range !== undefined);

    expect(Object.fromEntries(versions)).toEqual(peerDependencies);
    expect(worksWith().size).toBeGreaterThan(versions.length);
  });

  it('are peers where the code, or what an editor shows of it, names them', () => {
    const named = namedInImports();

    expect([...named].filter((name) => !(name in peerDependencies))).toEqual([]);
    expect([...named]).toEqual(expect.arrayContaining(['rxjs', '@opentelemetry/api', '@prometheus-io/client']));
  });
});
