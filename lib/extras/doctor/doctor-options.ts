import {
  checkIsObject,
  checkOption,
  checkOptions,
  must,
  mustBeMilliseconds,
  type OptionRule,
} from '../../lock/option-rules.js';
import type { DistributedLockOptions } from '../../options.js';
import { MAX_INTERVENTION_LENGTH } from '../../queue/intervention.js';
import { nativeRefusal } from '../../session/native-limits.js';
import type { DoctorLogger } from './audit.js';

type ConnectionOptions = Pick<
  DistributedLockOptions,
  | 'connect'
  | 'memory'
  | 'namespace'
  | 'auth'
  | 'acl'
  | 'tls'
  | 'sessionTimeoutMs'
  | 'serverTickMs'
  | 'waitMs'
  | 'connectTimeoutMs'
>;

/**
 * The options of a doctor: the connection as the application's own locks have it. `waitMs` is how long an answer of the
 * servers is waited for, beside the grace of a step.
 */
export interface LockDoctorOptions extends ConnectionOptions {
  /** The audit lines go there. @default nowhere */
  readonly logger?: DoctorLogger;
}

/** The time for an answer where the connection was given none (`waitMs: 0`). */
export const ANSWER_WITHIN_MS = 15_000;

/** Each step must say who takes it, and why. */
export interface StepOptions {
  /** The person, or the tool, that takes the step. At most 200 characters. Holders, waiters and the audit lines are told. */
  readonly by: string;
  /** Why. At most 200 characters. It is told to the same. */
  readonly reason: string;
}

const ANY_VALUE: OptionRule = () => undefined;

/** The values of the connection are checked where it is made. */
const RULES: Readonly<Record<keyof LockDoctorOptions, OptionRule>> = {
  connect: ANY_VALUE,
  memory: ANY_VALUE,
  namespace: ANY_VALUE,
  auth: ANY_VALUE,
  acl: ANY_VALUE,
  tls: ANY_VALUE,
  sessionTimeoutMs: ANY_VALUE,
  serverTickMs: ANY_VALUE,
  waitMs: ANY_VALUE,
  connectTimeoutMs: ANY_VALUE,
  logger: must('an object with log(message) and warn(message)', isLogger),
};

/** @throws LockConfigurationError */
export function checkDoctorOptions(options: LockDoctorOptions): void {
  checkIsObject('options:', options, " such as { connect: 'zk1:2181,zk2:2181' }");
  if ((options as DistributedLockOptions).client === 'native') throw nativeRefusal('createLockDoctor');
  checkOptions(options, RULES);
}

const MUST_BE_TOLD = must(
  `a text of 1 to ${MAX_INTERVENTION_LENGTH} characters`,
  (value) => typeof value === 'string' && value.trim() !== '' && value.length <= MAX_INTERVENTION_LENGTH,
);

export const STEP_RULES = { by: MUST_BE_TOLD, reason: MUST_BE_TOLD, graceMs: mustBeMilliseconds(0) };
export const MUST_BE_TOKEN = must('a token as a bigint, such as 4294967301n', (value) => typeof value === 'bigint');

/** A step of an operator accepts these options, and insists on some of them. */
interface StepRules {
  readonly rules: Readonly<Record<string, OptionRule>>;
  readonly required: readonly string[];
}

/** @throws LockConfigurationError where one of the `required` is missing, or a value is not of its form */
export function checkStepOptions(step: string, options: object, { rules, required }: StepRules, key: string): void {
  checkIsObject(`${step} of ${key}:`, options, " such as { by: 'ada', reason: 'stuck since noon' }", key);
  checkOptions(options, rules, key);
  for (const name of required) {
    checkOption(name, (options as Readonly<Record<string, unknown>>)[name], rules[name]!, key);
  }
}

function isLogger(value: unknown): boolean {
  const { log, warn } = (value ?? {}) as Partial<DoctorLogger>;
  return typeof log === 'function' && typeof warn === 'function';
}
