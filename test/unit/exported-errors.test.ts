import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { LockError } from '../../lib/lock/errors.js';

const REPOSITORY = join(import.meta.dirname, '..', '..');

type LockErrorClass = new (details: string) => LockError;

/** Every class that an entry point exports and whose name ends in "Error", but for the one that all others extend. */
async function exportedErrors(): Promise<Map<string, LockErrorClass>> {
  const { exports } = JSON.parse(readFileSync(join(REPOSITORY, 'package.json'), 'utf8')) as {
    exports: Record<string, unknown>;
  };
  const found = new Map<string, LockErrorClass>();
  for (const entry of Object.values(exports)) {
    // Whatever the conditions are, the sources are those of the ES modules.
    const [, source] = /"\.\/dist\/(lib\/[^"]+)\.js"/.exec(JSON.stringify(entry)) ?? [];
    if (source === undefined) continue;
    const members = (await import(join(REPOSITORY, `${source}.ts`))) as Record<string, unknown>;
    for (const [name, member] of Object.entries(members)) {
      if (name.endsWith('Error') && member !== LockError) found.set(name, member as LockErrorClass);
    }
  }
  return found;
}

/** `### LOCK_TIMEOUT (423)`, on whatever page. */
function documentedErrors(): string[] {
  const docs = readdirSync(join(REPOSITORY, 'docs')).filter((name) => name.endsWith('.md'));
  const pages = ['README.md', ...docs.map((name) => `docs/${name}`)];
  return pages.flatMap((page) =>
    [...readFileSync(join(REPOSITORY, page), 'utf8').matchAll(/^#+ ([A-Z_]+ \(\d{3}\))$/gm)].map(([, one]) => one!),
  );
}

describe('The errors that the entry points export', () => {
  it('all extend LockError', async () => {
    const errors = await exportedErrors();
    expect(errors.size).toBeGreaterThan(10);
    for (const [name, one] of errors)
      expect({ name, is: one.prototype instanceof LockError }).toEqual({ name, is: true });
  });

  it('are those that the documentation has a heading for, with the same codes and statuses', async () => {
    const errors = [...(await exportedErrors()).values()].map((one) => new one('what happened'));

    expect(documentedErrors().sort()).toEqual(errors.map(({ code, status }) => `${code} (${status})`).sort());
  });
});
