import { execFileSync } from 'node:child_process';
import { readFileSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { rollup } from '@rollup/wasm-node';

// What an import takes goes by the number of files more than by what is in them: the compiled modules, some 170 behind the
// root alone, leave in a few. Rollup keeps names, comments and line breaks, so what is loaded can still be read.
const COMPILED = 'dist/compiled';
const OUT = 'dist/lib';
const tsc = createRequire(import.meta.url).resolve('typescript/lib/tsc.js');

rmSync(OUT, { recursive: true, force: true });
execFileSync(process.execPath, [tsc, '-p', 'tsconfig.lib.json', '--declarationDir', OUT, '--outDir', COMPILED], {
  stdio: 'inherit',
});

const { exports, bin } = JSON.parse(readFileSync('package.json', 'utf8'));
const entries = Object.values(exports).filter((entry) => typeof entry !== 'string');
const scripts = [...entries.map((entry) => entry.default.default.slice('./'.length)), ...Object.values(bin)];
const names = scripts.map((path) => path.slice(`${OUT}/`.length, -'.js'.length));
const bundle = await rollup({
  input: Object.fromEntries(names.map((name) => [name, `${COMPILED}/${name}.js`])),
  // All that is not ours.
  external: (id) => !id.startsWith('.') && !id.startsWith('/'),
  // What is loaded is what was written.
  treeshake: false,
  onwarn({ code, message }) {
    // In the helpers with which TypeScript decorates, which ask for it on purpose.
    if (code !== 'THIS_IS_UNDEFINED') throw new Error(message);
  },
});
await bundle.write({ dir: OUT, format: 'es', chunkFileNames: 'parts/[name].js', generatedCode: 'es2015' });
await bundle.close();
rmSync(COMPILED, { recursive: true, force: true });
