import { mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from '@jest/globals';
import { transformSync } from '@swc/core';

const REPOSITORY = join(import.meta.dirname, '..', '..', '..', '..');
const page = readFileSync(join(REPOSITORY, 'docs', 'simulator.md'), 'utf8');
const snippets = [...page.matchAll(/^```ts\n([\s\S]*?)^```$/gm)].map(([, source = '']) => source);

const folder = mkdtempSync(join(tmpdir(), 'simulator-page-'));
symlinkSync(join(REPOSITORY, 'node_modules'), join(folder, 'node_modules'), 'junction');
afterAll(() => rmSync(folder, { recursive: true, force: true }));

for (const [index, source] of snippets.entries()) {
  const { code } = transformSync(source, {
    configFile: false,
    swcrc: false,
    jsc: {
      target: 'es2022',
      parser: { syntax: 'typescript', decorators: true },
      transform: { legacyDecorator: true, decoratorMetadata: true },
    },
    module: { type: 'es6' },
  });
  const path = join(folder, `snippet-${index}.mjs`);
  writeFileSync(path, code);
  // Each is a test file: what it imports is what the page says, and its tests are tests of this file from here on.
  await import(path);
}

describe('the page of the simulator', () => {
  it('has the tests that ran above', () => {
    expect(snippets.length).toBe(5);
    expect(snippets.filter((source) => !/^it[.(]/m.test(source))).toEqual([]);
  });

  it('names every fault', async () => {
    const { SimulatorFaults } = await import('../../../../lib/extras/simulator/index.js');
    const faults = Object.getOwnPropertyNames(SimulatorFaults.prototype).filter((name) => name !== 'constructor');
    expect(faults.length).toBeGreaterThan(25);
    expect(faults.filter((name) => !page.includes(`\`${name}(`))).toEqual([]);
  });
});
