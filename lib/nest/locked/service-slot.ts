import { Inject } from '@nestjs/common';
import type { LockService } from '../../engine/lock-service.js';
import { onlyLiveLockService } from '../live-lock-services.js';
import { DEFAULT_CONNECTION, getLockServiceToken } from '../lock-service-token.js';

/** Instances get no property of ours that a log or a comparison would show. */
const servicesByConnection = new Map<string, WeakMap<object, LockService>>();
/** Of objects that Nest did not build: each application that has one in a module offers its service. */
const offersByConnection = new Map<string, WeakMap<object, readonly LockService[]>>();
const slotsByPrototype = new WeakMap<object, Map<string, symbol>>();

/** Has Nest inject the lock service of a connection into every instance of the class, by a slot on its prototype. */
export function openServiceSlot(prototype: object, name: string): void {
  if (hasSlot(prototype, name)) return;
  const option = name === DEFAULT_CONNECTION ? '' : `{ name: '${name}', ... }`;
  // Nest prints it where it says what it cannot resolve.
  const slot = Symbol(
    `lock service for @Locked (is DistributedLockModule.forRoot(${option}) imported in the root module, and global?)`,
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
  Inject(getLockServiceToken(name))(prototype, slot);
}

export function fillServiceSlot(instance: object, name: string, service: LockService): void {
  servicesOf(name).set(instance, service);
}

/** For an object that Nest did not build itself, and so gave nothing. */
export function offerService(instance: object, name: string, service: LockService): void {
  const offers = offersByConnection.get(name) ?? new WeakMap<object, readonly LockService[]>();
  offersByConnection.set(name, offers);
  const others = (offers.get(instance) ?? []).filter((other) => other !== service && !isClosed(other));
  offers.set(instance, [...others, service]);
}

/**
 * The lock service that a method of this instance uses.
 * @throws LockConfigurationError where several would do: they do not exclude each other
 */
export function serviceFor(instance: unknown, name: string, method: string): LockService {
  // A WeakMap answers for what cannot be its key, too: a method without its object.
  const own = servicesOf(name).get(instance as object);
  if (own !== undefined) return own;
  const offered = offersByConnection.get(name)?.get(instance as object) ?? [];
  const [only, other] = offered.length > 1 ? offered.filter((one) => !isClosed(one)) : offered;
  return only !== undefined && other === undefined ? only : onlyLiveLockService(name, method);
}

function isClosed(service: LockService): boolean {
  return service.connectionState === 'closed';
}

function servicesOf(name: string): WeakMap<object, LockService> {
  const services = servicesByConnection.get(name) ?? new WeakMap<object, LockService>();
  servicesByConnection.set(name, services);
  return services;
}

/** A subclass inherits what Nest is to inject. */
function hasSlot(prototype: object, name: string): boolean {
  for (let at: object | null = prototype; at !== null; at = Object.getPrototypeOf(at) as object | null) {
    if (slotsByPrototype.get(at)?.has(name) === true) return true;
  }
  return false;
}
