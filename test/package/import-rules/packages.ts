import { builtinModules } from 'node:module';
import { FENCING_IN_NEST, zoneOf } from './zones.js';

/** What of `package.json` the rules look at. */
export interface Manifest {
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly peerDependencies?: Readonly<Record<string, string>>;
  readonly peerDependenciesMeta?: Readonly<Record<string, { readonly optional?: boolean }>>;
}

/** The folder that may import an optional peer; every optional peer of package.json must stand here. */
export const HOME_OF_OPTIONAL_PEER: Readonly<Record<string, string>> = {
  '@dagrejs/dagre': 'lib/extras/dashboard/',
  '@nestjs/terminus': 'lib/extras/terminus/',
  kerberos: 'lib/session/kerberos/',
  // These five are described by types of our own and handed in by the application: nothing is imported.
  '@opentelemetry/api': 'lib/extras/metrics/',
  '@prometheus-io/client': 'lib/extras/metrics/',
  ioredis: 'lib/fencing/redis/',
  pg: 'lib/fencing/postgres/',
  'prom-client': 'lib/extras/metrics/',
  // Loaded in a thread of its own, by a path that is found when it is asked for.
  zookeeper: 'lib/session/native/',
};

const INPUT_OUTPUT =
  /^node:(child_process|cluster|dgram|dns|fs|http|http2|https|net|readline|tls|worker_threads)(\/|$)/;

/** The one file outside `lib/nest`, fencing's Nest part and the extras that knows Nest: the base class of the errors lives there. */
const NEST_OUTSIDE = 'lib/lock/errors.ts';

/** Why a file of `lib/` may not import a package, or `undefined` when it may. */
export function whyNotPackage(from: string, specifier: string, manifest: Manifest): string | undefined {
  const zone = zoneOf(from);
  if (specifier.startsWith('node:')) {
    if ((zone === 'lock' || zone === 'queue') && INPUT_OUTPUT.test(specifier)) return `${zone} does no input or output`;
    return undefined;
  }
  const name = packageOf(specifier);
  if (builtinModules.includes(name)) return `a module of Node's own is written node:${specifier}`;
  if (manifest.peerDependenciesMeta?.[name]?.optional === true) {
    const home = HOME_OF_OPTIONAL_PEER[name];
    if (home === undefined) return `the optional peer ${name} has no folder of its own in the rules`;
    return from.startsWith(home) ? undefined : `the optional peer ${name} is imported in ${home} alone`;
  }
  if (manifest.dependencies?.[name] === undefined && manifest.peerDependencies?.[name] === undefined) {
    return `${name} is no dependency and no peer of the package`;
  }
  const knowsNest = zone === 'nest' || zone.startsWith('extras/') || from.startsWith(FENCING_IN_NEST);
  if (name.startsWith('@nestjs/') && !knowsNest && from !== NEST_OUTSIDE) {
    return `Nest is for lib/nest, ${FENCING_IN_NEST}, the extras and ${NEST_OUTSIDE}`;
  }
  return undefined;
}

/** The package of a specifier: `@nestjs/common` for `@nestjs/common/index.js`. */
export function packageOf(specifier: string): string {
  return specifier
    .split('/')
    .slice(0, specifier.startsWith('@') ? 2 : 1)
    .join('/');
}
