import { LockConfigurationError } from '../../lock/errors.js';
import { isClass } from './is-class.js';

/**
 * Refuses `@Locked method() {}`, where the decorator is handed the method in the place of a path. In JavaScript no compiler minds,
 * and the method would run without a lock.
 * @throws LockConfigurationError
 */
export function refuseMissingParentheses(first: unknown, second: unknown): void {
  const decorated = whatIsDecorated(first, second);
  if (decorated === undefined) return;
  throw new LockConfigurationError(
    `@Locked above ${decorated} has no parentheses, so it has no path and would lock nothing. Write ` +
      "@Locked('/locks/orders/:id'), with the path of what is to be locked",
  );
}

function whatIsDecorated(first: unknown, second: unknown): string | undefined {
  // The decorator of a member is given the class or the prototype, and the name.
  if (typeof second === 'string' || typeof second === 'symbol') {
    const owner = typeof first === 'function' ? first : (first as object | null | undefined)?.constructor;
    return `${owner?.name ?? 'a class'}.${String(second)}`;
  }
  // A standard decorator is given a context.
  if (typeof second === 'object' && second !== null && 'kind' in second && 'name' in second) return String(second.name);
  return isClass(first) ? `the class ${first.name}` : undefined;
}
