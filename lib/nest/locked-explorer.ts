import type { FactoryProvider, InjectionToken, OnModuleInit } from '@nestjs/common';
import { DiscoveryService } from '@nestjs/core';
import type { InstanceWrapper } from '@nestjs/core/injector/instance-wrapper.js';
import type { LockService } from '../engine/lock-service.js';
import { refuse } from '../lock/option-rules.js';
import { getLockServiceToken } from './lock-service-token.js';
import { type LockedMethod, lockedMethods, lockedMethodsOf, parameterNotes } from './locked/notes.js';
import { checkRecoveries } from './locked/recoveries.js';
import { offerService } from './locked/service-slot.js';
import { ManagedLockService } from './managed-lock-service.js';
import { chainOf, isHidden, isObject, prototypesOf } from './metadata.js';

type NestModule = NonNullable<InstanceWrapper['host']>;

/**
 * Looks at every class of the application once, at its start. It wraps no method: the decorators did that when the classes
 * were defined. It refuses what could not work, and serves the objects that Nest did not build itself (`useFactory`, `useValue`).
 */
export class LockedExplorer implements OnModuleInit {
  constructor(
    private readonly discovery: DiscoveryService,
    private readonly service: LockService,
    private readonly name: string,
  ) {}

  /** Checks what the modules and classes alone can tell, before anything connects. */
  check(): void {
    this.#checkThatItIsTheOnlyOne();
    for (const { metatype } of this.#all()) {
      if (typeof metatype !== 'function' || !isObject(metatype.prototype)) continue;
      for (const prototype of chainOf(metatype.prototype)) this.#check(prototype);
      checkRecoveries(metatype.prototype);
    }
  }

  async onModuleInit(): Promise<void> {
    try {
      this.#explore();
    } catch (error) {
      if (this.service instanceof ManagedLockService) await this.service.abandonStart();
      throw error;
    }
  }

  #explore(): void {
    this.#checkThatItIsTheOnlyOne();
    const isInReach = this.#reach();
    for (const { instance, host } of this.#all() as { readonly instance: unknown; readonly host?: NestModule }[]) {
      if (!isObject(instance)) continue;
      for (const prototype of prototypesOf(instance)) {
        this.#check(prototype);
        this.#checkConnections(instance, prototype);
        const isServed = isInReach(host) && this.#isOfOurs(lockedMethodsOf(prototype));
        if (isServed) offerService(instance, this.name, this.service);
      }
      checkRecoveries(Object.getPrototypeOf(instance) as object | null);
    }
  }

  #all(): InstanceWrapper[] {
    return [...this.discovery.getProviders(), ...this.discovery.getControllers()];
  }

  #checkThatItIsTheOnlyOne(): void {
    const { name } = this;
    const token = getLockServiceToken(name);
    // The modules are known already; the objects in them are not.
    const all = this.discovery
      .getProviders()
      .filter((one) => one.token === LockedExplorer && one.host?.isGlobal === true && one.host.providers.has(token));
    // Nest would silently give some classes the one and some the other: two ensembles, two namespaces, no exclusion.
    if (all.length > 1) {
      refuse(
        `DistributedLockModule '${name}' is imported ${all.length} times as a global module. Call forRoot once for each ` +
          'connection, in the root module, and give each a name of its own',
      );
    }
  }

  /** Tells the modules that may inject this connection: an object of any other module must not be served by it. */
  #reach(): (module: NestModule | undefined) => boolean {
    const token = getLockServiceToken(this.name);
    // The explorer is found by its token and not by itself: Nest may have a Proxy around it in its place.
    const own = this.discovery
      .getProviders()
      .find(
        (one) => one.token === token && one.instance === this.service && one.host?.providers.has(LockedExplorer),
      )?.host;
    // Each module is looked at once: modules may import each other in circles.
    const isInReach = (module: NestModule | undefined, seen: Set<NestModule>): boolean =>
      module === own ||
      [...(module?.imports ?? [])].some((one) => {
        if (one === own) return true;
        if (seen.has(one) || !passesOn(one, own, token)) return false;
        return isInReach(one, seen.add(one));
      });
    return own === undefined || own.isGlobal ? () => true : (module) => isInReach(module, new Set());
  }

  /** Refuses an object of a factory whose connection does not exist. Nest itself refuses such a class that it builds. */
  #checkConnections(instance: object, prototype: object): void {
    const missing = lockedMethodsOf(prototype).find(
      ({ name, method }) =>
        !isHidden(instance, prototype, method) &&
        name !== this.name &&
        !this.#all().some(({ token }) => token === getLockServiceToken(name)),
    );
    if (missing === undefined) return;
    refuse(
      `@Locked on ${missing.by} asks for the connection '${missing.name}', and no DistributedLockModule of the application has that name`,
    );
  }

  #check(prototype: object): void {
    for (const [method, notes] of parameterNotes.of(prototype)) {
      const locked = lockedMethods.get(prototype, method);
      for (const note of notes) {
        const on = `${note.decorator} on ${prototype.constructor.name}.${String(method)}`;
        if (locked === undefined) refuse(`${on} has no @Locked beside it: no lock would fill it, or use it`);
        if (note.kind === 'key' && !locked.some(({ placeholders }) => hasHead(placeholders, note.name))) {
          refuse(`${on} binds no placeholder of its @Locked: is the name misspelt?`);
        }
        if (note.kind === 'fence' && this.#isLocal && this.#isOfOurs(locked)) {
          refuse(
            `${on} and whenUnavailable: 'local' exclude each other: a lock of this process alone has no fencing token. ` +
              'Without the token a store cannot refuse a stale writer, so choose one of the two',
          );
        }
      }
    }
  }

  get #isLocal(): boolean {
    return this.service instanceof ManagedLockService && this.service.options.whenUnavailable === 'local';
  }

  #isOfOurs(methods: readonly LockedMethod[]): boolean {
    return methods.some(({ name }) => name === this.name);
  }
}

/** The explorer of one connection. @param prepare is called as soon as it is made, before anything connects */
export function lockedExplorer(name: string, prepare?: (explorer: LockedExplorer) => void): FactoryProvider {
  return {
    provide: LockedExplorer,
    inject: [DiscoveryService, getLockServiceToken(name)],
    useFactory: (discovery: DiscoveryService, service: LockService) => {
      const explorer = new LockedExplorer(discovery, service, name);
      prepare?.(explorer);
      return explorer;
    },
  };
}

/** Whether a module exports the connection: by its token, or with the module that has it. */
function passesOn(module: NestModule, own: NestModule | undefined, token: InjectionToken): boolean {
  return module.exports.has(token) || (own !== undefined && module.exports.has(own.metatype));
}

function hasHead(placeholders: readonly string[], name: string): boolean {
  return placeholders.some((placeholder) => placeholder.split('.')[0] === name);
}
