import 'reflect-metadata';
import { Controller, UseGuards } from '@nestjs/common';
import { FenceGuard } from './fence.guard.js';

const PROBE_PATH = 'probe';

@Controller(PROBE_PATH)
@UseGuards(FenceGuard)
class Probe {}

/** Where Nest keeps the paths of controllers and their methods, and their guards, learned from what it does to a class of ours. */
const PATH_KEY = keyOfProbe((kept) => kept === PROBE_PATH);
const GUARDS_KEY = keyOfProbe(hasOurGuard);

/** Under it, and the id of the application, the `RouterModule` keeps the path of a module. */
const MODULE_PATH_KEY = '__module_path__';

export const PARAMETER = /:([A-Za-z_$][\w$]*)/g;
/** A wildcard as Express 5 writes it. */
export const WILDCARD = /\*([A-Za-z_$][\w$]*)/g;

/** The paths that a controller or a handler was given; undefined for a class or a method that is no route. */
export function pathsOf(target: object): readonly string[] | undefined {
  const paths: unknown = Reflect.getMetadata(PATH_KEY, target);
  if (typeof paths === 'string') return [paths];
  return Array.isArray(paths) ? paths.map(String) : undefined;
}

/** What the `RouterModule` puts in front of a module's controllers. */
export function modulePathsOf(module: object): readonly string[] {
  return Reflect.getMetadataKeys(module)
    .filter((key) => typeof key === 'string' && key.startsWith(MODULE_PATH_KEY))
    .map((key) => String(Reflect.getMetadata(key, module)));
}

/** The names in a path: the `id` of `/orders/:id`, or the `rest` of `/files/*rest`, which stands for several segments. */
export function namesIn(path: string, pattern: RegExp): string[] {
  return [...path.matchAll(pattern)].map(([, name = '']) => name);
}

/** Whether Nest asks the guard of `@RequireFence` before this handler. */
export function isGuarded(handler: object, controller: object): boolean {
  return [handler, controller].some((target) => hasOurGuard(Reflect.getMetadata(GUARDS_KEY, target)));
}

function hasOurGuard(guards: unknown): boolean {
  return Array.isArray(guards) && guards.includes(FenceGuard);
}

function keyOfProbe(isIt: (kept: unknown) => boolean): unknown {
  return (Reflect.getMetadataKeys(Probe) as unknown[]).find((key) => isIt(Reflect.getMetadata(key, Probe)));
}
