import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { describe, expect, it } from '@jest/globals';

const root = join(import.meta.dirname, '..', '..');
const page = readFileSync(join(root, 'docs', 'architecture.md'), 'utf8');
const named = new Set([...page.matchAll(/`((?:lib|test)\/[\w./-]+)`/g)].map(([, path]) => path!));

/** The files that a shell in `lib` reads for this operand. */
function filesOf(operand: string): string[] {
  const path = join(root, 'lib', operand);
  if (basename(path) !== '*.ts') return [path];
  return readdirSync(dirname(path))
    .filter((name) => name.endsWith('.ts'))
    .map((name) => join(dirname(path), name));
}

describe('the page about the architecture', () => {
  it('names files and folders that exist', () => {
    expect(named.size).toBeGreaterThan(40);
    expect([...named].filter((path) => !existsSync(join(root, path)))).toEqual([]);
  });

  it.each(['lib', 'lib/engine'])('has every folder of %s', (folder) => {
    const folders = readdirSync(join(root, folder), { withFileTypes: true }).filter((entry) => entry.isDirectory());
    expect(folders.map(({ name }) => `${folder}/${name}/`).filter((path) => !named.has(path))).toEqual([]);
  });

  it('says how much code there is to read, as its command counts it', () => {
    const [, files, lines] = /read these (\d+) files, about (\d+ \d{3}) lines/.exec(page)!;
    const [, operands, unread] = /\(cd lib && cat ([^)]+)\) \|\s+grep -vcE '([^']+)'/.exec(page)!;
    const read = operands!.split(' ').flatMap(filesOf);
    const counted = read.flatMap((file) =>
      readFileSync(file, 'utf8')
        .split('\n')
        .filter((line) => !new RegExp(unread!).test(line)),
    );
    expect(read).toHaveLength(Number(files));
    expect(Math.abs(counted.length - Number(lines!.replace(' ', '')))).toBeLessThanOrEqual(100);
  });

  it('links to pages that exist', () => {
    const links = [...page.matchAll(/\]\(([^)#]+)\)/g)].map(([, path]) => path!);
    expect(links.filter((path) => !existsSync(join(root, 'docs', path)))).toEqual([]);
  });
});
