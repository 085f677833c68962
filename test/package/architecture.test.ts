import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';

const root = join(import.meta.dirname, '..', '..');
const page = readFileSync(join(root, 'docs', 'architecture.md'), 'utf8');
const named = new Set([...page.matchAll(/`((?:lib|test)\/[\w./-]+)`/g)].map(([, path]) => path!));

describe('the page about the architecture', () => {
  it('names files and folders that exist', () => {
    expect(named.size).toBeGreaterThan(40);
    expect([...named].filter((path) => !existsSync(join(root, path)))).toEqual([]);
  });

  it.each(['lib', 'lib/engine'])('has every folder of %s', (folder) => {
    const folders = readdirSync(join(root, folder), { withFileTypes: true }).filter((entry) => entry.isDirectory());
    expect(folders.map(({ name }) => `${folder}/${name}/`).filter((path) => !named.has(path))).toEqual([]);
  });

  it('links to pages that exist', () => {
    const links = [...page.matchAll(/\]\(([^)#]+)\)/g)].map(([, path]) => path!);
    expect(links.filter((path) => !existsSync(join(root, 'docs', path)))).toEqual([]);
  });
});
