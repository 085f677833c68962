import type { Refused } from './locked-types.js';

/** The type of a method's parameter; unknown where the compiler does not show it: in private methods, and in JavaScript. */
type ParameterOf<Class, Method, Index> = Method extends keyof Class
  ? Class[Method] extends (...args: infer Arguments) => unknown
    ? Index extends keyof Arguments
      ? Arguments[Index]
      : unknown
    : unknown
  : unknown;

/** The argument of a pick: the parameter, or what the pick says where the compiler does not show the parameter. */
export type Picked<Class, Method, Index> =
  unknown extends ParameterOf<Class, Method, Index> ? never : ParameterOf<Class, Method, Index>;

/** Whether a parameter can take what a lock fills it with. */
type Takes<Parameter, Value, Reason extends string> = Value extends Parameter
  ? unknown
  : [Extract<Parameter, Value>] extends [never]
    ? Refused<Reason, Parameter>
    : unknown;

/** Fits the parameters that can take the value. */
export type FillingDecorator<Value, Reason extends string> = <
  Class extends object,
  Method extends string | symbol | undefined,
  Index extends number,
>(
  target: Class,
  method: Method,
  index: Index & Takes<ParameterOf<Class, Method, Index>, Value, Reason>,
) => void;
