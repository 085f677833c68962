import type { OnModuleInit } from '@nestjs/common';
import type { DiscoveryService } from '@nestjs/core';
import type { LockService } from '../engine/lock-service.js';
import { LockConfigurationError } from '../lock/errors.js';
import { getLockServiceToken } from './lock-service-token.js';
import { lockedMethodsOf, prototypesOf } from './locked/locked-methods.js';
import { allParameterNotesOf } from './locked/parameter-notes.js';
import { fillServiceSlot, isServiceSlotFilled } from './locked/service-slot.js';

/** What the explorer must know of its connection. */
export interface ExploredConnection {
  readonly name: string;
  readonly whenUnavailable: 'reject' | 'local';
}

/**
 * Looks at every class of the application once, at its start. It locks nothing: that was done when the classes were
 * defined. It refuses what could not work, and serves the objects that Nest did not build itself (`useFactory`, `useValue`).
 */
export class LockedExplorer implements OnModuleInit {
  constructor(
    private readonly discovery: DiscoveryService,
    private readonly service: LockService,
    readonly connection: ExploredConnection,
  ) {}

  /** What can be told from the modules and classes alone, before anything connects. */
  check(): void {
    this.#checkThatItIsTheOnlyOne();
    for (const { metatype } of this.#all()) {
      if (typeof metatype !== 'function' || !isObject(metatype.prototype)) continue;
      this.#check(metatype.prototype);
      for (const prototype of prototypesOf(metatype.prototype)) this.#check(prototype);
    }
  }

  onModuleInit(): void {
    this.#checkThatItIsTheOnlyOne();
    for (const { instance } of this.#all()) {
      if (!isObject(instance)) continue;
      for (const prototype of prototypesOf(instance)) {
        this.#check(prototype);
        this.#serve(instance, prototype);
      }
    }
  }

  #all(): { readonly instance: unknown; readonly metatype: unknown }[] {
    return [...this.discovery.getProviders(), ...this.discovery.getControllers()];
  }

  /** Nest would silently give some classes the one, some the other: two ensembles, two namespaces, no exclusion. */
  #checkThatItIsTheOnlyOne(): void {
    const { name } = this.connection;
    const token = getLockServiceToken(name);
    // Which objects there will be is not known yet, but which modules.
    const all = this.discovery
      .getProviders()
      .filter((one) => one.token === LockedExplorer && one.host?.isGlobal === true && one.host.providers.has(token));
    if (all.length > 1) {
      refuse(
        `DistributedLockModule '${name}' is imported ${all.length} times as a global module. Call forRoot once for each ` +
          'connection, in the root module, and give each a name of its own',
      );
    }
  }

  #serve(instance: object, prototype: object): void {
    const { name } = this.connection;
    const isOurs = lockedMethodsOf(prototype).some((method) => method.name === name);
    if (isOurs && !isServiceSlotFilled(instance, name)) fillServiceSlot(instance, name, this.service);
  }

  #check(prototype: object): void {
    const locked = lockedMethodsOf(prototype);
    for (const [method, notes] of allParameterNotesOf(prototype)) {
      const own = locked.filter((one) => one.method === method);
      const by = `${prototype.constructor.name}.${String(method)}`;
      for (const note of notes) {
        const decorator = describe(note);
        if (own.length === 0)
          refuse(`${decorator} on ${by} has no @Locked beside it: no lock would fill it, or use it`);
        if (note.kind === 'key' && !own.some(({ placeholders }) => hasHead(placeholders, note.name))) {
          refuse(`${decorator} on ${by} binds no placeholder of its @Locked: is the name misspelt?`);
        }
        if (note.kind === 'fence' && this.connection.whenUnavailable === 'local' && this.#isOfOurs(own)) {
          refuse(
            `${decorator} on ${by} and whenUnavailable: 'local' exclude each other: a lock of this process alone has no ` +
              'fencing token. Without the token a store cannot refuse a stale writer, so choose one of the two',
          );
        }
      }
    }
  }

  #isOfOurs(methods: readonly { readonly name: string }[]): boolean {
    return methods.some(({ name }) => name === this.connection.name);
  }
}

function hasHead(placeholders: readonly string[], name: string): boolean {
  return placeholders.some((placeholder) => placeholder.split('.')[0] === name);
}

function describe(note: { readonly kind: string; readonly name?: string }): string {
  if (note.kind === 'key') return `@LockKey('${note.name}')`;
  return note.kind === 'fence' ? '@Fence()' : '@CurrentLock()';
}

function isObject(value: unknown): value is object {
  return (typeof value === 'object' && value !== null) || typeof value === 'function';
}

function refuse(what: string): never {
  throw new LockConfigurationError(what);
}
