import { types } from 'node:util';
import { Inject } from '@nestjs/common';
import type { LockService } from '../../engine/lock-service.js';
import { refuse } from '../../lock/option-rules.js';
import { DEFAULT_CONNECTION, getLockServiceToken } from '../lock-service-token.js';
import { isObject, NamedNotes } from '../metadata.js';

/**
 * The service of each instance, by the name of the connection. It is kept here, so that an instance has no property of ours that
 * a log would show.
 */
const services = new NamedNotes<LockService>();
/** For objects that Nest did not build: each application that has such an object in a module offers its service. */
const offers = new NamedNotes<readonly LockService[]>();
/** By the prototype, and the name of the connection. */
const slots = new NamedNotes<symbol>();

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
  if (slots.nearest(prototype, name) !== undefined) return;
  const option = name === DEFAULT_CONNECTION ? '' : `{ name: '${name}', ... }`;
  // Nest prints this text where it says what it cannot resolve.
  const slot = Symbol(
    `lock service for @Locked (is DistributedLockModule.forRoot(${option}) imported in the root module, and global? In a ` +
      `test, add ${standIn(name)} to the providers)`,
  );
  slots.set(prototype, name, slot);
  Object.defineProperty(prototype, slot, {
    get(this: object) {
      return services.get(this, name);
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
  forEachFace(instance, (face) => services.set(face, name, service));
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
  forEachFace(instance, (face) => {
    const others = (offers.get(face, name) ?? []).filter((other) => other !== service && !isClosed(other));
    offers.set(face, name, [...others, service]);
  });
}

/**
 * The lock service that a method of this instance uses.
 * @throws LockConfigurationError where several would do: they do not exclude each other
 */
export function serviceFor(instance: unknown, name: string, method: string): LockService {
  // The instance may be no object, as for a method that was called without one.
  const found = isObject(instance) ? (serviceOf(instance, name) ?? serviceOf(knownBy(instance), name)) : undefined;
  return found ?? onlyLiveLockService(name, method);
}

function serviceOf(instance: object | undefined, name: string): LockService | undefined {
  if (instance === undefined) return undefined;
  const own = services.get(instance, name) ?? readSlot(instance, name);
  if (own !== undefined) return own;
  const offered = offers.get(instance, name) ?? [];
  const [only, other] = offered.length > 1 ? offered.filter((one) => !isClosed(one)) : offered;
  // Two applications offer their services: neither may be chosen by chance.
  return other === undefined ? only : undefined;
}

function readSlot(instance: object, name: string): LockService | undefined {
  const slot = slots.nearest(instance, name);
  // The instance itself is asked, as a Proxy on which methods are called may pass the slot of the object behind it on.
  return slot === undefined ? undefined : (Reflect.get(instance, slot) as LockService | undefined);
}

function isClosed(service: LockService): boolean {
  return service.connectionState === 'closed';
}

/** A lock service that its application has not closed. */
interface LiveLockService extends LockService {
  /** The name of the connection. */
  readonly name: string;
  /** An application that failed to start may leave services that nobody will use, or close. */
  readonly hasStarted: boolean;
}

const SHARED_AS = Symbol.for('nestjs-zookeeper-lock.live-lock-services');

/** All copies of the package in a process share one list. */
export const liveLockServices = ((globalThis as { [SHARED_AS]?: Set<LiveLockService> })[SHARED_AS] ??=
  new Set<LiveLockService>());

/** How texts name what a test has in the place of a lock service that needs servers. */
function standIn(name: string): string {
  const option = name === DEFAULT_CONNECTION ? '' : `{ name: '${name}' }`;
  return `...provideLockTesting(${option}) from nestjs-zookeeper-lock/testing`;
}

/**
 * The lock service for an object that Nest did not build: the one there is.
 * @throws LockConfigurationError where there is none, or more than one
 */
function onlyLiveLockService(name: string, method: string): LockService {
  const all = [...liveLockServices].filter((one) => one.name === name);
  const inUse = all.filter((one) => one.hasStarted);
  const [service, other] = inUse.length > 0 ? inUse : all;
  if (service !== undefined && other === undefined) return service;
  const found = service === undefined ? 'there is none' : 'there are several';
  refuse(
    `${method} was called on an object that Nest did not build, so it uses the one lock connection '${name}' of this ` +
      `process, and ${found}. Have Nest build the object (list its class in providers), or ` +
      (service === undefined
        ? 'import DistributedLockModule.forRoot(...) and call it while the application runs. In a test, use ' +
          `Test.createTestingModule with ${standIn(name)} in its providers`
        : 'close the applications that are not in use'),
  );
}
