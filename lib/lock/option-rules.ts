import { LockConfigurationError } from './errors.js';
import { shown } from './shown.js';

/** Says what is wrong with a value, `must be ...`; undefined where nothing is. */
export type OptionRule = (value: unknown) => string | undefined;

export function must(be: string, fits: (value: unknown) => boolean): OptionRule {
  return (value) => (fits(value) ? undefined : `must be ${be}, not ${shown(value)}`);
}

export const MUST_BE_BOOLEAN = must('true or false', (value) => typeof value === 'boolean');

export function mustBeOneOf(values: readonly unknown[]): OptionRule {
  return must(`one of ${values.join(', ')}`, (value) => values.includes(value));
}

export function mustBeMilliseconds(min: number, max = Infinity): OptionRule {
  return mustBeTime(`, ${min} or more`, (ms) => ms >= min, max);
}

export function mustBeMillisecondsAboveZero(max = Infinity): OptionRule {
  return mustBeTime(' above 0', (ms) => ms > 0, max);
}

/** A bound on a number of things. Infinity says that there is none. */
export const MUST_BE_COUNT_OR_INFINITY = must(
  'a whole number, 0 or more, or Infinity',
  (value) => value === Infinity || (Number.isSafeInteger(value) && (value as number) >= 0),
);

function mustBeTime(range: string, isInRange: (ms: number) => boolean, max: number): OptionRule {
  const most = max === Infinity ? '' : ` and at most ${max}`;
  const fits = (value: unknown): boolean =>
    typeof value === 'number' && Number.isFinite(value) && isInRange(value) && value <= max;
  return must(`a number of milliseconds${range}${most}`, fits);
}

/** @param example how the text of the error goes on behind `an object` */
export function checkIsObject(subject: string, value: unknown, example = '', key?: unknown): void {
  if (typeof value === 'object' && value !== null) return;
  refuse(`${subject} must be an object${example}, not ${shown(value)}`, key);
}

/**
 * Checks all options by their rules; none has to be there.
 * @throws LockConfigurationError that names the option and what was expected
 */
export function checkOptions(options: object, rules: Readonly<Record<string, OptionRule>>, key?: unknown): void {
  for (const name of Object.keys(options)) {
    if (!Object.hasOwn(rules, name)) refuse(`${name}: ${describeUnknownOption(name, Object.keys(rules))}`, key);
  }
  // An object of a class inherits members that are not among its own. For all others the few that are there are looked at: this is
  // done for each lock that is asked for.
  const isPlain = Object.getPrototypeOf(options) === Object.prototype;
  for (const name of isPlain ? Object.getOwnPropertyNames(options) : Object.keys(rules)) {
    const value = (options as Readonly<Record<string, unknown>>)[name];
    if (value !== undefined && Object.hasOwn(rules, name)) checkOption(name, value, rules[name]!, key);
  }
}

export function checkOption(name: string, value: unknown, rule: OptionRule, key?: unknown): void {
  const mistake = rule(value);
  if (mistake !== undefined) refuse(`${name}: ${mistake}`, key);
}

/** The given options of these names, and the defaults of those that were not given. */
export function withDefaults<Options extends object>(
  given: { readonly [Name in keyof Options]?: Options[Name] | undefined },
  defaults: Options,
): Options {
  const names = Object.keys(defaults) as (keyof Options)[];
  return Object.fromEntries(names.map((name) => [name, given[name] ?? defaults[name]])) as Options;
}

/**
 * Refuses anything but a function at once. Otherwise the mistake would show only after the lock was waited for.
 * @param argument the name of the argument in the documentation
 * @param instead the call as it should be written
 * @throws LockConfigurationError
 */
export function checkFunction(argument: string, value: unknown, instead: string, key?: unknown): void {
  if (typeof value !== 'function')
    refuse(`${argument}: must be a function, not ${shown(value)}. Write ${instead}`, key);
}

export function refuse(what: string, key?: unknown): never {
  // The key is checked later than the options. It may be none: where the caller swapped the arguments, it is the function.
  throw new LockConfigurationError(what, typeof key === 'string' ? key : undefined);
}

/** Puts in front of what a check refuses where the mistake is. */
export function refusingAt<T>(where: string, check: () => T): T {
  try {
    return check();
  } catch (error) {
    if (!(error instanceof LockConfigurationError)) throw error;
    // The new error says all that the refusal said, and keeps its cause, if it has one.
    throw new LockConfigurationError(`${where}: ${error.details}`, undefined, error);
  }
}

/** At least this many letters of a known name suggest that name: `wait` suggests `waitMs`. */
const MIN_BEGINNING = 3;

/** Describes an unknown option: which options there are, and which one was most likely meant. */
export function describeUnknownOption(name: string, known: readonly string[]): string {
  const meant = nearestName(name, known);
  return `is not an option (the options are: ${known.join(', ')})${meant === undefined ? '' : `. Did you mean ${meant}?`}`;
}

function nearestName(name: string, known: readonly string[]): string | undefined {
  const written = name.toLowerCase();
  // In a short name two slips would match almost any other name.
  const most = written.length < 5 ? 1 : 2;
  const near = (slips: number): string | undefined => known.find((one) => isNear(written, one.toLowerCase(), slips));
  const beginsSo = (one: string): boolean => written.length >= MIN_BEGINNING && one.toLowerCase().startsWith(written);
  // Another case is the likeliest mistake, then a beginning of the name, then slips of the pen.
  return near(0) ?? known.find(beginsSo) ?? near(1) ?? near(most);
}

/** Whether `slips` characters left out, added or exchanged turn one name into the other. */
function isNear(left: string, right: string, slips: number): boolean {
  if (Math.abs(left.length - right.length) > slips) return false;
  if (left === '' || right === '') return true;
  const [restOfLeft, restOfRight] = [left.slice(1), right.slice(1)];
  if (left.charAt(0) === right.charAt(0)) return isNear(restOfLeft, restOfRight, slips);
  return (
    slips > 0 &&
    (isNear(restOfLeft, restOfRight, slips - 1) ||
      isNear(restOfLeft, right, slips - 1) ||
      isNear(left, restOfRight, slips - 1))
  );
}
