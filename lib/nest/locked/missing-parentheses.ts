import { LockConfigurationError } from '../../lock/errors.js';
import { isClass } from './is-class.js';

/**
 * Refuses `@Locked method() {}`, where the decorator is handed what it decorates in the place of its arguments. In JavaScript no
 * compiler minds, and what the decorator gives back would be dropped.
 * @param args what the decorator was called with
 * @param cure what it would do, and what to write
 * @throws LockConfigurationError
 */
export function refuseMissingParentheses(decorator: string, args: readonly unknown[], cure: string): void {
  const where = whereItStands(args);
  if (where === undefined) return;
  throw new LockConfigurationError(`${decorator} ${where} has no parentheses, so ${cure}`);
}

function whereItStands([target, member, place]: readonly unknown[]): string | undefined {
  const owner = ownerOf(target);
  const isNamed = typeof member === 'string' || typeof member === 'symbol';
  if (owner !== undefined && typeof place === 'number') {
    return `before a parameter of ${isNamed ? `${owner}.${String(member)}` : `the constructor of ${owner}`}`;
  }
  if (owner !== undefined && isNamed) return `above ${owner}.${String(member)}`;
  // A standard decorator's context.
  if (typeof member === 'object' && member !== null && 'kind' in member && 'name' in member) {
    return `above ${String(member.name)}`;
  }
  return isClass(target) ? `above the class ${target.name}` : undefined;
}

/** Of a member: its class, for a static one, or the prototype. A path or a name is neither. */
function ownerOf(target: unknown): string | undefined {
  if (typeof target === 'function') return target.name;
  return typeof target === 'object' && target !== null ? (target.constructor?.name ?? 'a class') : undefined;
}
