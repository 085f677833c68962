import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, relative } from 'node:path';

// For those who cannot `require` an ES module: Jest without --experimental-vm-modules, above all. Node itself takes the ES
// modules for `require`, too, by the condition `module-sync`, so that no process has two copies of the library.
execFileSync(
  process.execPath,
  [createRequire(import.meta.url).resolve('typescript/lib/tsc.js'), '-p', 'tsconfig.lib-cjs.json'],
  {
    stdio: 'inherit',
  },
);
writeFileSync('dist/cjs/package.json', JSON.stringify({ type: 'commonjs' }));

// The types are those of the ES modules: one declaration of each class, and its comments.
const { exports } = JSON.parse(readFileSync('package.json', 'utf8'));
for (const entry of Object.values(exports)) {
  if (typeof entry === 'string') continue;
  const target = relative(dirname(entry.require.types), entry.default.default).replaceAll('\\', '/');
  writeFileSync(entry.require.types, `export * from '${target}';\n`);
}
