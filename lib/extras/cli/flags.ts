import { UsageError } from './usage-error.js';

const UNITS_MS: Readonly<Record<string, number>> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000 };
const MAX_TOKEN = 2n ** 63n - 1n;

/** The options that were given. */
export class Flags {
  constructor(private readonly values: Readonly<Record<string, string | boolean | undefined>>) {}

  isSet(name: string): boolean {
    return this.values[name] === true;
  }

  text(name: string): string | undefined {
    const value = this.values[name];
    return typeof value === 'string' ? value : undefined;
  }

  required(name: string, example: string): string {
    const value = this.text(name);
    if (value === undefined || value.trim() === '')
      throw new UsageError(`--${name} is missing, such as --${name} ${example}`);
    return value;
  }

  choice<const Value extends string>(name: string, values: readonly Value[]): Value | undefined {
    const value = this.text(name);
    return value === undefined ? undefined : choiceOf(`--${name}`, value, values);
  }

  /** A time span, such as `30s`, in milliseconds. */
  span(name: string): number | undefined {
    const value = this.text(name);
    return value === undefined ? undefined : spanOf(`--${name}`, value);
  }

  count(name: string, most: number): number | undefined {
    const value = this.text(name);
    if (value === undefined) return undefined;
    if (/^\d{1,9}$/.test(value) && Number(value) <= most) return Number(value);
    throw new UsageError(`--${name} takes a whole number from 0 to ${most}, not '${value}'`);
  }

  token(): bigint {
    const value = this.required('token', '4294967301 (zk-lock show KEY has it)');
    const token = /^\d{1,19}$/.test(value) ? BigInt(value) : -1n;
    if (token >= 0n && token <= MAX_TOKEN) return token;
    throw new UsageError(`--token takes the digits of a fencing token, not '${value}': zk-lock show KEY has it`);
  }
}

/** @param option the name under which it was given */
export function choiceOf<const Value extends string>(option: string, value: string, values: readonly Value[]): Value {
  const found = values.find((one) => one === value);
  if (found === undefined) throw new UsageError(`${option} takes one of ${values.join(', ')}, not '${value}'`);
  return found;
}

/** @param option the name under which it was given */
export function spanOf(option: string, value: string): number {
  const [, number, unit = ''] = /^(\d{1,9}(?:\.\d{1,3})?)(ms|s|m|h)$/.exec(value) ?? [];
  const unitMs = UNITS_MS[unit];
  if (number === undefined || unitMs === undefined)
    throw new UsageError(`${option} takes a time with its unit, such as 500ms, 30s, 5m or 2h, not '${value}'`);
  return Math.round(Number(number) * unitMs);
}
