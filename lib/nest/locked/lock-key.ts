import type { KeyValue } from './encode-key-value.js';
import { keyBuilder, parseKeyTemplate } from './key-template.js';
import type { CheckedPath, Placeholders } from './locked-types.js';

export type { CheckedPath };

/** One value for each placeholder of a path. */
export type LockKeyValues<Path extends string> = { readonly [Name in Placeholders<Path>]: KeyValue };

/** A path with placeholders, parsed once. */
export interface LockKeyTemplate {
  readonly placeholders: readonly string[];
  /** @throws InvalidLockKeyError for a value that is missing, or can stand for nothing */
  keyOf(values: Readonly<Record<string, unknown>>): string;
}

/**
 * The key that `@Locked(path)` makes of these values, encoded as it does: `lockKey('/locks/:id', { id })`. For callers of
 * a `LockService` that must meet decorated methods, and for whoever names the lock of a resource.
 *
 * @throws LockConfigurationError for a path that can be no key, InvalidLockKeyError for a value that is missing or empty
 */
export function lockKey<const Path extends string>(path: CheckedPath<Path>, values: LockKeyValues<Path>): string {
  return lockKeyTemplate(path, `lockKey(${JSON.stringify(path)})`).keyOf(values);
}

/** @throws LockConfigurationError, with `where` in front, for a path that can be no key */
export function lockKeyTemplate(path: string, where: string): LockKeyTemplate {
  const template = parseKeyTemplate(path, where);
  const { placeholders } = template;
  const readers = placeholders.map(
    (name) =>
      ([values]: readonly unknown[]) =>
        (values as Readonly<Record<string, unknown>> | undefined)?.[name],
  );
  const build = keyBuilder(template, readers);
  return { placeholders, keyOf: (values) => build([values]) };
}
