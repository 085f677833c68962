import 'reflect-metadata';
import { Controller, Inject, Injectable, type OnModuleInit, UseGuards } from '@nestjs/common';
import { ApplicationConfig, DiscoveryService } from '@nestjs/core';
import { LockConfigurationError } from '../../lock/errors.js';
import { methodsOf } from '../../nest/metadata.js';
import { fencedMethods, type FencePlan, fencePlanOf, ownFencePlanOf } from './fence-plan.js';
import { takingToken } from './fence.decorators.js';
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

const PARAMETER = /:([A-Za-z_$][\w$]*)/g;
/** A wildcard as Express 5 writes it. */
const WILDCARD = /\*([A-Za-z_$][\w$]*)/g;

/** Looks at every class of the application once, at its start, and refuses what could not work. */
@Injectable()
export class FenceExplorer implements OnModuleInit {
  constructor(
    @Inject(DiscoveryService) private readonly discovery: DiscoveryService,
    @Inject(ApplicationConfig) private readonly config: ApplicationConfig,
  ) {}

  onModuleInit(): void {
    this.#checkThatItIsTheOnlyOne();
    for (const { metatype, host } of this.discovery.getControllers()) {
      if (isClass(metatype)) this.#checkController(metatype, this.#prefixes(host?.metatype));
    }
    for (const { metatype } of this.discovery.getProviders()) {
      if (isClass(metatype) && pathsOf(metatype) === undefined) this.#checkProvider(metatype);
    }
  }

  #checkThatItIsTheOnlyOne(): void {
    const all = this.discovery.getProviders().filter(({ metatype }) => metatype === FenceExplorer);
    // Nest would silently give some controllers the marks of the one module, some those of the other.
    if (all.length > 1) {
      refuse(`FencingModule is imported ${all.length} times. Call forRoot once, in the root module`);
    }
  }

  /** What stands in front of a controller's own path. */
  #prefixes(module: object | null | undefined): string {
    return [this.config.getGlobalPrefix(), ...(module ? modulePathsOf(module) : [])].join('/');
  }

  #checkController(controller: Class, prefixes: string): void {
    for (const [name, handler] of methodsOf(controller.prototype)) {
      const plan = fencePlanOf(handler, controller);
      const paths = pathsOf(handler);
      if (paths !== undefined) this.#checkThatItWasKept(name, handler, controller, plan);
      if (takingToken.nearest(controller.prototype, name) === true && !isPlan(plan)) {
        refuse(
          `@FenceToken() on ${controller.name}.${name} has no @RequireFence beside it: no guard would verify a token`,
        );
      }
      if (!isPlan(plan)) continue;
      if (paths === undefined) {
        if (ownFencePlanOf(handler) === plan) {
          refuse(`${plan.where} is not a route: it needs @Get, @Post, @Put, ... beside it`);
        }
        continue;
      }
      for (const front of pathsOf(controller) ?? ['']) {
        for (const path of paths) {
          const route = [prefixes, front, path].join('/').replaceAll(/\/+/g, '/');
          this.#checkRoute(plan, `${controller.name}.${name}`, route);
        }
      }
    }
  }

  #checkThatItWasKept(name: string, handler: object, controller: Class, plan: FencePlan | 'none' | undefined): void {
    const remembered = fencedMethods.nearest(controller.prototype, name);
    // Another decorator may have put a new function, without the plan, in place of the fenced one.
    if (remembered !== undefined && ownFencePlanOf(handler) === undefined) {
      refuse(
        `${remembered.where} is lost on the way to the route ${controller.name}.${name}: another decorator replaces the ` +
          'method, or a class that extends this one overrides it. Put @RequireFence above that decorator, or on the ' +
          'overriding method; lift it there with @WithoutFence() if that is meant',
      );
    }
    // Another decorator may have replaced the guards.
    if (isPlan(plan) && !isGuarded(handler, controller)) {
      refuse(
        `${plan.where}: its guard was taken off ${controller.name}.${name} by another decorator: put it above that`,
      );
    }
  }

  #checkRoute({ where, template, keys }: FencePlan, by: string, route: string): void {
    if (keys !== undefined) return;
    const wildcard = template.placeholders.find((name) => namesIn(route, WILDCARD).includes(name));
    if (wildcard !== undefined) {
      refuse(
        `${where}: "*${wildcard}" of the route ${route} of ${by} is a wildcard, which stands for several segments: ` +
          `make one value of them with keys: (params) => ({ ${wildcard}: ... })`,
      );
    }
    const known = namesIn(route, PARAMETER);
    const unbound = template.placeholders.find((name) => !known.includes(name));
    if (unbound === undefined) return;
    refuse(
      `${where}: placeholder ":${unbound}" is no parameter of the route ${route} of ${by}. Known: ` +
        `[${known.join(', ')}]. Put it into the route, compute it with keys: (params) => ({ ... }), or lift a fence that ` +
        'the class requires with @WithoutFence()',
    );
  }

  #checkProvider(provider: Class): void {
    const plans = [provider, ...methodsOf(provider.prototype).values()].map(ownFencePlanOf);
    const plan = plans.find(isPlan);
    if (plan !== undefined) refuse(`${plan.where}: it is for controllers; this class is listed in providers`);
  }
}

interface Class {
  readonly name: string;
  readonly prototype: object;
}

function isClass(metatype: unknown): metatype is Class {
  return typeof metatype === 'function' && typeof metatype.prototype === 'object' && metatype.prototype !== null;
}

function isPlan(plan: FencePlan | 'none' | undefined): plan is FencePlan {
  return plan !== undefined && plan !== 'none';
}

function refuse(what: string): never {
  throw new LockConfigurationError(what);
}

/** The paths that a controller or a handler was given; undefined for a class or a method that is no route. */
function pathsOf(target: object): readonly string[] | undefined {
  const paths: unknown = Reflect.getMetadata(PATH_KEY, target);
  if (typeof paths === 'string') return [paths];
  return Array.isArray(paths) ? paths.map(String) : undefined;
}

/** What the `RouterModule` puts in front of a module's controllers. */
function modulePathsOf(module: object): readonly string[] {
  return Reflect.getMetadataKeys(module)
    .filter((key) => typeof key === 'string' && key.startsWith(MODULE_PATH_KEY))
    .map((key) => String(Reflect.getMetadata(key, module)));
}

/** The names in a path: the `id` of `/orders/:id`, or the `rest` of `/files/*rest`, which stands for several segments. */
function namesIn(path: string, pattern: RegExp): string[] {
  return [...path.matchAll(pattern)].map(([, name = '']) => name);
}

/** Whether Nest asks the guard of `@RequireFence` before this handler. */
function isGuarded(handler: object, controller: object): boolean {
  return [handler, controller].some((target) => hasOurGuard(Reflect.getMetadata(GUARDS_KEY, target)));
}

function hasOurGuard(guards: unknown): boolean {
  return Array.isArray(guards) && guards.includes(FenceGuard);
}

function keyOfProbe(isIt: (kept: unknown) => boolean): unknown {
  return (Reflect.getMetadataKeys(Probe) as unknown[]).find((key) => isIt(Reflect.getMetadata(key, Probe)));
}
