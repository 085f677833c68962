import type { CheckCall } from './driven-lock-service.js';

/** The members of a handle that wait for the servers. */
const WAITING_MEMBERS: ReadonlySet<string | symbol> = new Set(['release', 'upgrade', 'whenSure', Symbol.asyncDispose]);

/**
 * The same handle, except that it refuses calls that would wait for ever because simulated time stands still or the
 * process is gone.
 */
export function drivenHandle<Handle extends object>(handle: Handle, check: CheckCall): Handle {
  return new Proxy(handle, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name, target);
      // A handle on several locks has them in an array.
      if (Array.isArray(value)) return value.map((one: object) => drivenHandle(one, check));
      if (typeof value !== 'function') return value;
      if (!WAITING_MEMBERS.has(name)) return (...given: unknown[]): unknown => Reflect.apply(value, target, given);
      return async (...given: unknown[]): Promise<unknown> => {
        check(typeof name === 'symbol' ? 'release' : name);
        return Reflect.apply(value, target, given);
      };
    },
  });
}
