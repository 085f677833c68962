import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL, URL } from 'node:url';

const require = createRequire(import.meta.url);
const ROOT = join(import.meta.dirname, '..', '..', '..');
const CACHE = join(tmpdir(), 'nestjs-zookeeper-lock-compiled');
const SETTINGS = {
  swcrc: false,
  configFile: false,
  sourceMaps: 'inline',
  module: { type: 'es6' },
  jsc: {
    target: 'es2022',
    parser: { syntax: 'typescript', decorators: true },
    transform: { legacyDecorator: true, decoratorMetadata: true },
  },
};
/** What else decides how a text is compiled, besides the text. */
const COMPILER = `${require('@swc/core/package.json').version} ${JSON.stringify(SETTINGS)}`;

mkdirSync(CACHE, { recursive: true });

/** An import names the file that will exist after compilation, or the package itself. */
export async function resolve(specifier, context, next) {
  if (specifier === 'nestjs-zookeeper-lock') return next(sourceOf('lib/index.ts'), context);
  if (specifier === 'nestjs-zookeeper-lock/fencing') return next(sourceOf('lib/fencing/index.ts'), context);
  if (specifier.startsWith('nestjs-zookeeper-lock/')) {
    return next(sourceOf(`lib/extras/${specifier.slice('nestjs-zookeeper-lock/'.length)}/index.ts`), context);
  }
  if (/^\.{1,2}\/.*\.js$/.test(specifier) && context.parentURL?.endsWith('.ts')) {
    const source = new URL(specifier.replace(/\.js$/, '.ts'), context.parentURL);
    if (existsSync(source)) return next(source.href, context);
  }
  return next(specifier, context);
}

export async function load(url, context, next) {
  if (!url.startsWith('file:') || !url.endsWith('.ts')) return next(url, context);
  return { format: 'module', shortCircuit: true, source: compiled(fileURLToPath(url)) };
}

/** The result is kept from process to process, by what it was made of. */
function compiled(path) {
  const text = readFileSync(path, 'utf8');
  const name = createHash('sha1').update(`${COMPILER}\n${path}\n${text}`).digest('hex');
  const kept = join(CACHE, `${name}.js`);
  if (existsSync(kept)) return readFileSync(kept, 'utf8');
  const { code } = require('@swc/core').transformSync(text, { ...SETTINGS, filename: path });
  // Another process may write the same at this moment.
  const unfinished = `${kept}.${process.pid}`;
  writeFileSync(unfinished, code);
  renameSync(unfinished, kept);
  return code;
}

function sourceOf(path) {
  return pathToFileURL(join(ROOT, path)).href;
}
