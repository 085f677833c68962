import { types } from 'node:util';
import { Inject } from '@nestjs/common';
import type { LockService } from '../../engine/lock-service.js';
import { onlyLiveLockService, standIn } from '../live-lock-services.js';
import { DEFAULT_CONNECTION, getLockServiceToken } from '../lock-service-token.js';

/** The service of each instance. It is kept here, so that an instance has no property of ours that a log would show. */
const servicesByConnection = new Map<string, WeakMap<object, LockService>>();
/** For objects that Nest did not build: each application that has such an object in a module offers its service. */
const offersByConnection = new Map<string, WeakMap<object, readonly LockService[]>>();
const slotsByPrototype = new WeakMap<object, Map<string, symbol>>();

/**
 * The name of a method on every prototype that has a slot. Nest's option `instrument` puts a Proxy around what Nest builds,
 * before anything is injected: the slot is filled on the Proxy, while methods may be called on the object behind it. Called on
 * the Proxy as other methods are, this one shows that object.
 */
const SHOW_YOURSELF = Symbol('what methods with @Locked are called on');

/**
 * Some such Proxies bind only methods whose names are texts, so that the one above, a symbol, is called on the Proxy itself. The
 * object behind it is then given a property to be known by: one that is defined on the Proxy comes to stand there.
 */
const KNOWN_BY = Symbol('what methods with @Locked know their object by');

type Visit = (instance: object) => void;

/** Has Nest inject the lock service of a connection into every instance of the class, by a slot on its prototype. */
export function openServiceSlot(prototype: object, name: string): void {
  // A subclass inherits the slot that Nest fills.
  if (slotOf(prototype, name) !== undefined) return;
  const option = name === DEFAULT_CONNECTION ? '' : `{ name: '${name}', ... }`;
  // Nest prints this text where it says what it cannot resolve.
  const slot = Symbol(
    `lock service for @Locked (is DistributedLockModule.forRoot(${option}) imported in the root module, and global? In a ` +
      `test, add ${standIn(name)} to the providers)`,
  );
  const slots = slotsByPrototype.get(prototype) ?? new Map<string, symbol>();
  slotsByPrototype.set(prototype, slots.set(name, slot));
  Object.defineProperty(prototype, slot, {
    get(this: object) {
      return servicesOf(name).get(this);
    },
    set(this: object, service: LockService) {
      fillServiceSlot(this, name, service);
    },
  });
  Object.defineProperty(prototype, SHOW_YOURSELF, {
    configurable: true,
    value(this: object, visit: Visit) {
      visit(this);
    },
  });
  Inject(getLockServiceToken(name))(prototype, slot);
}

export function fillServiceSlot(instance: object, name: string, service: LockService): void {
  forEachFace(instance, (face) => servicesOf(name).set(face, service));
}

/** Visits the instance as it was given, and as its methods see it. */
function forEachFace(instance: object, visit: Visit): void {
  visit(instance);
  let isShown = false;
  (instance as { [SHOW_YOURSELF]?: (visit: Visit) => void })[SHOW_YOURSELF]?.((face) => {
    isShown = face !== instance;
    visit(face);
  });
  if (isShown || !types.isProxy(instance)) return;
  const known = knownBy(instance) ?? {};
  if (Reflect.defineProperty(instance, KNOWN_BY, { configurable: true, value: known })) visit(known);
}

function knownBy(instance: object): object | undefined {
  return Object.getOwnPropertyDescriptor(instance, KNOWN_BY)?.value as object | undefined;
}

/** Offers a service to an object that Nest did not build itself, and so gave nothing. */
export function offerService(instance: object, name: string, service: LockService): void {
  const offers = offersByConnection.get(name) ?? new WeakMap<object, readonly LockService[]>();
  offersByConnection.set(name, offers);
  forEachFace(instance, (face) => {
    const others = (offers.get(face) ?? []).filter((other) => other !== service && !isClosed(other));
    offers.set(face, [...others, service]);
  });
}

/**
 * The lock service that a method of this instance uses.
 * @throws LockConfigurationError where several would do: they do not exclude each other
 */
export function serviceFor(instance: unknown, name: string, method: string): LockService {
  return serviceOf(instance, name) ?? serviceOf(faceBehind(instance), name) ?? onlyLiveLockService(name, method);
}

function faceBehind(instance: unknown): object | undefined {
  return typeof instance === 'object' && instance !== null ? knownBy(instance) : undefined;
}

function serviceOf(instance: unknown, name: string): LockService | undefined {
  // The instance may be no object, as for a method that was called without one: a WeakMap answers for that, too.
  const own = servicesOf(name).get(instance as object) ?? readSlot(instance, name);
  if (own !== undefined) return own;
  const offered = offersByConnection.get(name)?.get(instance as object) ?? [];
  const [only, other] = offered.length > 1 ? offered.filter((one) => !isClosed(one)) : offered;
  // Two applications offer their services: neither may be chosen by chance.
  return other === undefined ? only : undefined;
}

/** Asks the instance itself: a Proxy on which methods are called may pass the slot of the object behind it on. */
function readSlot(instance: unknown, name: string): LockService | undefined {
  if (typeof instance !== 'object' || instance === null) return undefined;
  const slot = slotOf(instance, name);
  return slot === undefined ? undefined : (Reflect.get(instance, slot) as LockService | undefined);
}

function isClosed(service: LockService): boolean {
  return service.connectionState === 'closed';
}

function servicesOf(name: string): WeakMap<object, LockService> {
  const services = servicesByConnection.get(name) ?? new WeakMap<object, LockService>();
  servicesByConnection.set(name, services);
  return services;
}

function slotOf(instance: object, name: string): symbol | undefined {
  for (let at: object | null = instance; at !== null; at = Object.getPrototypeOf(at) as object | null) {
    const slot = slotsByPrototype.get(at)?.get(name);
    if (slot !== undefined) return slot;
  }
  return undefined;
}
