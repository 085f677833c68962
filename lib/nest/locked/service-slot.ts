import { Inject } from '@nestjs/common';
import type { LockService } from '../../engine/lock-service.js';
import { onlyLiveLockService } from '../live-lock-services.js';
import { DEFAULT_CONNECTION, getLockServiceToken } from '../lock-service-token.js';

/** Instances get no property of ours that a log or a comparison would show. */
const servicesByConnection = new Map<string, WeakMap<object, LockService>>();
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

export function isServiceSlotFilled(instance: object, name: string): boolean {
  return servicesOf(name).has(instance);
}

/** The lock service that a method of this instance uses. */
export function serviceFor(instance: unknown, name: string, method: string): LockService {
  // A WeakMap answers for what cannot be its key, too: a method without its object.
  return servicesOf(name).get(instance as object) ?? onlyLiveLockService(name, method);
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
