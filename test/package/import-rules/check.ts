import { posix } from 'node:path';
import { importsOf, type ImportedModule } from './imports.js';
import { packageOf, whyNotPackage, type Manifest } from './packages.js';
import { whyNotFile, zoneOf } from './zones.js';

/** Sources by their path from the root of the repository, `lib/index.ts`. */
export type Sources = ReadonlyMap<string, string>;

const PACKAGE_NAME = 'nestjs-zookeeper-lock';

/** Every breach of the import rules, one line each: `lib/queue/order.ts:3 imports x: why not`. */
export function breaches(sources: Sources, manifest: Manifest): string[] {
  const imports = new Map([...sources].map(([path, source]) => [path, importsOf(path, source)]));
  const publicFiles = new Set((imports.get('lib/index.ts') ?? []).map((found) => targetOf('lib/index.ts', found)));
  const found: string[] = [];
  for (const [path, modules] of imports) {
    if (path.startsWith('lib/') && zoneOf(path) === 'unknown')
      found.push(`${path} is in no folder that the rules know`);
    for (const module of modules) {
      const why = path.startsWith('sample-app/')
        ? whyNotInSample(path, module)
        : whyNotInLibrary(path, module, sources, manifest, publicFiles);
      if (why !== undefined) found.push(`${path}:${module.line} imports ${module.specifier}: ${why}`);
    }
  }
  return [...found, ...optionalPeersAtTheRoot(imports, manifest)];
}

function whyNotInLibrary(
  path: string,
  module: ImportedModule,
  sources: Sources,
  manifest: Manifest,
  publicFiles: ReadonlySet<string>,
): string | undefined {
  const { specifier, kind } = module;
  if (specifier.startsWith('(')) return 'a computed name cannot be checked';
  if (packageOf(specifier) === PACKAGE_NAME) return 'nobody inside imports index.ts';
  if (!specifier.startsWith('.')) return whyNotPackage(path, specifier, manifest);
  const target = targetOf(path, module);
  if (!target.startsWith('lib/')) return 'it is outside lib';
  if (!sources.has(target)) return `there is no ${target}`;
  return whyNotFile(path, target, kind, publicFiles);
}

/** The sample application is a reader's model: it knows the package as a user does. */
function whyNotInSample(path: string, module: ImportedModule): string | undefined {
  const { specifier } = module;
  if (specifier.startsWith('.')) {
    return targetOf(path, module).startsWith('sample-app/') ? undefined : 'the sample imports the package by its name';
  }
  return /^nestjs-zookeeper-lock\/(dist|lib)(\/|$)/.test(specifier) ? 'it is inside the package' : undefined;
}

/** An application without the optional peer must be able to import the package: no static way from index.ts may lead there. */
function optionalPeersAtTheRoot(imports: ReadonlyMap<string, ImportedModule[]>, manifest: Manifest): string[] {
  const found: string[] = [];
  const ways = new Map([['lib/index.ts', 'lib/index.ts']]);
  for (const [path, way] of ways) {
    for (const module of imports.get(path) ?? []) {
      if (module.kind === 'dynamic') continue;
      if (!module.specifier.startsWith('.')) {
        const name = packageOf(module.specifier);
        const optional = manifest.peerDependenciesMeta?.[name]?.optional === true;
        if (optional) found.push(`the optional peer ${name} is loaded with index.ts: ${way} > ${name}`);
        continue;
      }
      const target = targetOf(path, module);
      if (!ways.has(target)) ways.set(target, `${way} > ${target}`);
    }
  }
  return found;
}

/** The source behind a relative import; what is no relative import stays as it is. */
function targetOf(path: string, { specifier }: ImportedModule): string {
  if (!specifier.startsWith('.')) return specifier;
  return posix.join(posix.dirname(path), specifier).replace(/\.js$/, '.ts');
}
