import type { LockedOptions } from './locked-options.js';

/** A value that a placeholder may stand for. */
export type KeyValue = string | number | bigint;

/** What a decorated method may return. A lock takes time, so no value that is there at once is among it. */
export type Lockable =
  PromiseLike<unknown> | { subscribe(...args: never[]): { unsubscribe(): void } } | AsyncIterable<unknown>;

type Method = (...args: never[]) => unknown;

/** A method that can be decorated. */
export type LockableMethod = (...args: never[]) => Lockable;

/** The arguments of a method, which give `keys` its types where it has none of its own. */
type ArgumentsOf<Target> = Target extends (...args: infer Arguments) => unknown ? Arguments : never;

/** A path with `:placeholders`, or a function that computes the key from the method's arguments. */
export type LockedPath<Target = Method> = string | ((...args: ArgumentsOf<Target>) => string);

/** What the compiler can tell of a path that is written out. Other mistakes are refused while the class is being defined. */
type Judgement<Path> = Path extends string
  ? string extends Path | FirstOf<Path>
    ? 'fine'
    : Path extends `/${string}`
      ? Path extends `${string}${'{' | '}'}${string}` | `${string}/<${string}>${string}`
        ? 'foreign'
        : 'fine'
      : 'relative'
  : 'fine';

type FirstOf<Path extends string> = Path extends `${infer First}${string}` ? First : '';

interface Mistakes<Path> {
  readonly fine: Path;
  readonly foreign: 'a placeholder has a colon in front: "/locks/:id"';
  readonly relative: Path extends string ? `a path begins with "/": "/${Path}"` : never;
}

interface Gate {
  readonly fine: unknown;
  readonly foreign: never;
  readonly relative: never;
}

/**
 * The path, or a text that says what is wrong with it, which the compiler shows beside the path. Both are looked up in a table.
 * Conditional types would not do: where the path is a type parameter, the compiler judges a look-up by the bound of the
 * parameter, and accepts nothing for a conditional type.
 */
export type CheckedPath<Path> = (Path & Gate[Judgement<Path>]) | Mistakes<Path>[Judgement<Path>];

type Letter<L extends string> = L | Uppercase<L>;
type NameStart =
  | Letter<'a' | 'b' | 'c' | 'd' | 'e' | 'f' | 'g' | 'h' | 'i' | 'j' | 'k' | 'l' | 'm' | 'n' | 'o' | 'p' | 'q' | 'r'>
  | Letter<'s' | 't' | 'u' | 'v' | 'w' | 'x' | 'y' | 'z'>
  | '_'
  | '$';
type NameCharacter = NameStart | '0' | '1' | '2' | '3' | '4' | '5' | '6' | '7' | '8' | '9' | '.';

type NameAtStart<Text extends string, Name extends string = ''> = Text extends `${infer First}${infer Rest}`
  ? First extends (Name extends '' ? NameStart : NameCharacter)
    ? NameAtStart<Rest, `${Name}${First}`>
    : Name
  : Name;

/** `'tenant' | 'id'` for `'/locks/:tenant/:id'`; any string where the path is not known to the compiler. */
export type Placeholders<Path extends string> = string extends Path
  ? string
  : Path extends `${string}:${infer Rest}`
    ? Exclude<NameAtStart<Rest>, ''> | Placeholders<Rest>
    : never;

type KeysOf<Path> = Path extends string ? { readonly [Name in Placeholders<Path>]: KeyValue } : never;

/** The options that fit a path and a method: `keys` takes its arguments and returns the placeholders, and nothing else. */
export interface LockedOptionsFor<Path, Target = Method> extends Omit<LockedOptions, 'keys'> {
  readonly keys?: (...args: ArgumentsOf<Target>) => KeysOf<Path>;
}

/** The options with the texts that an editor shows. The type that the compiler infers of the options has no texts. */
export interface OptionTexts extends Omit<LockedOptions, 'keys'> {
  /** Computes the placeholders from the arguments, instead of binding them one by one: `(order) => ({ id: order.id })`. */
  readonly keys?: unknown;
}

type IsAny<Type> = 0 extends 1 & Type ? true : false;

type UnknownOption<Options> = Exclude<keyof Options, keyof LockedOptions>;

/** Refuses what the compiler lets pass in an object whose type it infers: options that do not exist, and keys too many. */
type Checked<Path, Options> = (IsAny<Options> extends true
  ? unknown
  : [UnknownOption<Options>] extends [never]
    ? unknown
    : Refused<'there is no such option', UnknownOption<Options>>) &
  (Options extends { readonly keys: (...args: never[]) => infer Keys }
    ? [Exclude<keyof Keys, keyof KeysOf<Path>>] extends [never]
      ? unknown
      : Refused<'keys returns names that are no placeholders of the path', Exclude<keyof Keys, keyof KeysOf<Path>>>
    : unknown);

/** Nothing can be assigned to it; the error shows the reason. */
export interface Refused<Reason extends string, Culprit = unknown> {
  readonly refused: Reason;
  readonly culprit: Culprit;
}

type Accepts<Function, Target extends Method, Reason extends string> = Function extends Method
  ? Function extends (...args: Parameters<Target>) => unknown
    ? unknown
    : Refused<Reason, Parameters<Function>>
  : unknown;

type Outcome<Target extends Method> = ReturnType<Target> extends PromiseLike<infer Result> ? Result : unknown;

type SkipsTo<Target extends Method> =
  undefined extends Outcome<Target>
    ? unknown
    : Outcome<Target> extends void
      ? unknown
      : Refused<"onBusy: 'skip' makes the method resolve with undefined, which is not in its return type">;

type BusyTo<OnBusy, Target extends Method> = OnBusy extends 'skip'
  ? SkipsTo<Target>
  : OnBusy extends (...args: never[]) => infer Result
    ? Awaited<Result> extends Outcome<Target>
      ? unknown
      : Refused<'onBusy returns what the method does not', Awaited<Result>>
    : unknown;

/** Compares the decorator with the method. Where `Known` is the method, the compiler has compared path and keys already. */
type Fits<Path, Options, Known, Target extends Method> = (LockableMethod extends Known
  ? Accepts<Path, Target, 'the path function does not take what the method does'> &
      (Options extends { readonly keys: infer Keys }
        ? Accepts<Keys, Target, 'keys does not take what the method does'>
        : unknown)
  : unknown) &
  (Options extends { readonly onBusy: infer OnBusy } ? BusyTo<OnBusy, Target> : unknown) &
  Checked<Path, Options>;

/**
 * Fits methods that return a promise, an Observable or an async iterable, and take what the options expect. The descriptor
 * is optional only for the compiler: so `applyDecorators`, which knows no such method decorators, takes it for a property's.
 * `Known` is the method that the decorator is written above: the compiler infers it from what stands in this place.
 */
export type LockedDecorator<Path, Options, Known> = <Target extends LockableMethod>(
  prototype: object,
  method: string | symbol,
  descriptor?: TypedPropertyDescriptor<Target> & { readonly value?: Known | undefined } & Fits<
      Path,
      Options,
      Known,
      Target
    >,
) => void;
