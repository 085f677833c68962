import { checkKey } from '../../engine/key.js';
import { InvalidLockKeyError, LockConfigurationError } from '../../lock/errors.js';
import { refuse, refusingAt } from '../../lock/option-rules.js';
import type { CheckedPath, KeyValue, Placeholders } from './locked-types.js';

export type { CheckedPath };

/** One value for each placeholder of a path. */
export type LockKeyValues<Path extends string> = { readonly [Name in Placeholders<Path>]: KeyValue };

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
  return refusingAt(where, () => new LockKeyTemplate(path));
}

const PLACEHOLDER = /:([A-Za-z_$][\w$.]*)/g;
/** A colon without a name was surely meant as a placeholder. A colon elsewhere, as in `12:30`, is a character like others. */
const NAMELESS = /\/:/;
/** Characters that an encoded value may have: between two placeholders they do not tell where the one value ends. */
const MAY_STAND_IN_A_VALUE = /^[\w\-.!~*'()%]*$/;

const VALUE = "([\\w\\-.!~*'()%]+)";

/** `/locks/:tenant/:id` taken apart. */
export class LockKeyTemplate {
  /** The names, in the order in which they stand; one may come twice. */
  readonly placeholders: readonly string[];
  /** The texts before, between and behind the placeholders: one more than there are placeholders. */
  readonly #literals: readonly string[];

  /** @throws LockConfigurationError for a path that can be no key, whatever its values are */
  constructor(readonly path: string) {
    checkForForeignPlaceholders(path);
    const parts = path.split(PLACEHOLDER);
    this.#literals = parts.filter((_, index) => index % 2 === 0);
    this.placeholders = parts.filter((_, index) => index % 2 === 1);
    this.#check();
  }

  /** @throws InvalidLockKeyError for a value that is missing, or can stand for nothing */
  keyOf(values: Readonly<Record<string, unknown>> | undefined): string {
    return this.keyFrom((name) => values?.[name]);
  }

  /** @param valueOf gives the value of a placeholder, by its name and by its place among the placeholders */
  keyFrom(valueOf: (name: string, index: number) => unknown): string {
    return this.placeholders.reduce(
      (key, name, index) => key + encodeKeyValue(valueOf(name, index), name, this.path) + this.#literals[index + 1]!,
      this.#literals[0]!,
    );
  }

  /** The way back: the values that a key of this template was made of, as texts. */
  valuesOf(key: string): Readonly<Record<string, string>> {
    const literals = this.#literals.map((literal) => literal.replace(/[^\w/]/g, '\\$&'));
    // No text between two placeholders can be a part of a value, so the key can be read in one way only.
    const [, ...values] = new RegExp(`^${literals.join(VALUE)}$`).exec(key) ?? [];
    return Object.fromEntries(this.placeholders.map((name, index) => [name, decodeURIComponent(values[index]!)]));
  }

  #check(): void {
    const literals = this.#literals;
    if (literals.some((literal) => NAMELESS.test(literal))) {
      refuse(
        'a ":" at the beginning of a segment without a name after it. Placeholders are named like variables: ":id"',
      );
    }
    const malformed = this.placeholders.find((name) => name.split('.').includes(''));
    if (malformed !== undefined) {
      refuse(`the placeholder ":${malformed}" has an empty part. A dot leads into an object, as in ":body.order.id"`);
    }
    const glued = literals.slice(1, -1).find((literal) => !literal.includes('/') && MAY_STAND_IN_A_VALUE.test(literal));
    if (glued !== undefined) {
      refuse(
        `two placeholders with ${JSON.stringify(glued)} between them: different values could make the same key. ` +
          'Separate them with "/", or with a character that values cannot contain, such as ","',
      );
    }
    try {
      checkKey(literals.join('x'));
    } catch (error) {
      if (!(error instanceof InvalidLockKeyError)) throw error;
      // The key that was checked has a sample value in each place; the error shows the path instead.
      const text = error.details.replace(JSON.stringify(error.key), JSON.stringify(this.path));
      throw new LockConfigurationError(text, undefined, { cause: error });
    }
  }
}

/**
 * Makes a value a part of one path segment.
 * @throws InvalidLockKeyError
 */
export function encodeKeyValue(value: unknown, name: string, path: string): string {
  // A missing value must never become the text "undefined": all callers without the value would share one lock.
  if (!isKeyValue(value)) {
    throw new InvalidLockKeyError(
      `The lock key ${path} needs a value for ":${name}": a non-empty string, a finite number or a bigint, ` +
        `not ${describe(value)}`,
    );
  }
  try {
    const encoded = encodeURIComponent(String(value));
    // A segment of dots leads elsewhere in a path, and encodeURIComponent lets dots through.
    return encoded === '.' || encoded === '..' ? encoded.replaceAll('.', '%2E') : encoded;
  } catch (error) {
    if (!(error instanceof URIError)) throw error;
    const text = `The lock key ${path} needs a value for ":${name}" that is well-formed text, not half a character`;
    throw new InvalidLockKeyError(text, undefined, { cause: error });
  }
}

function isKeyValue(value: unknown): value is KeyValue {
  switch (typeof value) {
    case 'string':
      return value !== '';
    case 'number':
      return Number.isFinite(value) && !isInexact(value);
    default:
      return typeof value === 'bigint';
  }
}

function isInexact(value: number): boolean {
  // Past 2^53 several integers are one number: several rows would share one lock.
  return Number.isInteger(value) && !Number.isSafeInteger(value);
}

function describe(value: unknown): string {
  if (value === '') return 'an empty string';
  if (typeof value === 'number' && isInexact(value))
    return `${value}, which several integers are rounded to: use a bigint`;
  if (value === null || value === undefined || typeof value === 'number') return String(value);
  return Array.isArray(value) ? 'an array' : `a value of type ${typeof value}`;
}

/**
 * Placeholders as other languages write them. Here they are text, the same for every call: one lock for the whole fleet. Only
 * templates are looked at, which developers write; a computed key may have a value in it that looks like one of these.
 */
const FOREIGN: readonly RegExp[] = [
  // {id}, ${id}, #{id}, {{id}}, {}, {id:int}
  /[$#@%:]*\{+([^{}]*)\}*|\}/,
  // <id>, <int:id>; an arrow has no name in it.
  /<([^<>/]*\w[^<>/]*)>/,
  // [id], [...id]; the brackets of an IPv6 address have colons in them.
  /\[(?:\.{3})?([A-Za-z_$][\w$.-]*)\]/,
  // (id), as a whole segment
  /(?<=\/)\(([A-Za-z_$][\w$.]*)\)(?=\/|$)/,
  // %s, %d, %(id)s, %1$s: a percent sign with two hexadecimal digits is how encodeURIComponent writes a character.
  /%(?![\da-fA-F]{2})(?:\((\w+)\)|\d+\$)?[diosuxfjv](?![A-Za-z\d])/,
  // %id%
  /%(?![\da-fA-F]{2})([A-Za-z_]\w*)%/,
  // $id; a placeholder may lead to such a name, as in :body._id.$oid.
  /(?<![\w$:]|:[A-Za-z_$][\w$.]*)\$([A-Za-z_][\w.]*)/,
];
/** A whole segment that is a wildcard elsewhere: *, **, *rest. */
const WILDCARD = /(?<=\/)\*{1,2}[\w$]*(?=\/|$)/;
/**
 * A placeholder with what a route would take for a rule on its value, up to the end of the segment. A bracket with a placeholder
 * in it is no such rule, but `?:` begins a group of a regular expression.
 */
const ROUTE_PATTERN = /(:[A-Za-z_$][\w$.]*)(\((?![^/]*(?<!\?):[A-Za-z_$])[^/]*\)[?*+]?|[?*+])(?=\/|$)/;
const NAME = /^[A-Za-z_$][\w$]*(?:\.[A-Za-z_$][\w$]*)*$/;

function checkForForeignPlaceholders(path: string): void {
  for (const pattern of FOREIGN) {
    const [found, inside = ''] = pattern.exec(path) ?? [];
    if (found === undefined) continue;
    const text = `${JSON.stringify(found)} is no placeholder but text, the same in every key`;
    refuse(`${text}. Placeholders have a colon in front: ":${nameIn(found, inside)}"`);
  }
  const [wildcard] = WILDCARD.exec(path) ?? [];
  if (wildcard !== undefined) {
    refuse(
      `${JSON.stringify(wildcard)} is no wildcard but text: a lock is for one key, and for nothing below it. A placeholder ` +
        'takes a value into the key: ":id"',
    );
  }
  const [, placeholder, rule] = ROUTE_PATTERN.exec(path) ?? [];
  if (placeholder === undefined || rule === undefined) return;
  const text = `${JSON.stringify(rule)} behind "${placeholder}" is no rule as in a route, but text in every key`;
  refuse(`${text}. Write "${placeholder}" alone`);
}

/** The name of the value, beside which some languages put its type: `{id:int}`, `<int:id>`. */
function nameIn(found: string, inside: string): string {
  const parts = inside.split(':');
  const name = (found.startsWith('<') ? parts.at(-1) : parts[0])?.trim() ?? '';
  return NAME.test(name) ? name : 'id';
}
