import { parseArgs, type ParseArgsConfig } from 'node:util';
import type { Command, Flag } from './command.js';
import { CONNECTION_FLAGS } from './connection.js';
import { Flags } from './flags.js';
import { UsageError } from './usage-error.js';

export const COMMON_FLAGS: readonly Flag[] = [
  { name: 'json', text: 'the result, and errors, as JSON' },
  { name: 'help', text: 'this help; that of a command: zk-lock break --help' },
  { name: 'version', text: 'the version of the package' },
];

export interface CommandLine {
  readonly command: string | undefined;
  readonly operands: readonly string[];
  readonly childCommand: readonly string[];
  readonly flags: Flags;
  /** The names of all options that were given. */
  readonly given: readonly string[];
}

/**
 * Reads the arguments, as far as that is possible without knowing which options the command has.
 * @throws UsageError
 */
export function readCommandLine(args: readonly string[], commands: readonly Command[]): CommandLine {
  const end = args.indexOf('--');
  const own = end === -1 ? args : args.slice(0, end);
  const known = [...COMMON_FLAGS, ...CONNECTION_FLAGS, ...commands.flatMap(({ flags }) => flags)];
  const options = Object.fromEntries(
    known.map(({ name, value }) => [
      name,
      { type: value === undefined ? 'boolean' : 'string', ...(name === 'help' ? { short: 'h' } : {}) },
    ]),
  ) as NonNullable<ParseArgsConfig['options']>;
  try {
    const { values, positionals } = parseArgs({ args: [...own], options, allowPositionals: true });
    const [command, ...operands] = positionals;
    const flags = new Flags(values as Readonly<Record<string, string | boolean | undefined>>);
    return {
      command,
      operands,
      childCommand: end === -1 ? [] : args.slice(end + 1),
      flags,
      given: Object.keys(values),
    };
  } catch (error) {
    throw new UsageError(mistakeIn((error as Error).message));
  }
}

/** Node's own words are several sentences, of advice that does not fit. */
function mistakeIn(message: string): string {
  const [, unknown] = /^Unknown option '([^']+)'/.exec(message) ?? [];
  if (unknown !== undefined) return `there is no option ${unknown}`;
  const [, dashed] = /^Option '(?:-\w, )?(--?[\w-]+)[^']*' argument is ambiguous/.exec(message) ?? [];
  if (dashed !== undefined)
    return `${dashed} takes a value, and what follows it begins with a dash: write ${dashed}=VALUE`;
  const [, bare] = /^Option '(?:-\w, )?(--[\w-]+)[^']*' argument missing/.exec(message) ?? [];
  if (bare !== undefined) return `${bare} takes a value`;
  const [, full] = /^Option '(?:-\w, )?(--[\w-]+)' does not take an argument/.exec(message) ?? [];
  return full === undefined ? message : `${full} takes no value`;
}

/**
 * Refuses options and operands that the command does not take: a typing mistake must not change what is meant.
 * @throws UsageError
 */
export function checkAgainst(command: Command, { operands, childCommand, given }: CommandLine): void {
  const known = [...COMMON_FLAGS, ...CONNECTION_FLAGS, ...command.flags].map(({ name }) => name);
  const foreign = given.find((name) => !known.includes(name));
  if (foreign !== undefined) throw new UsageError(`${command.name} has no option --${foreign}`);
  const [least, most] = command.operandCount;
  if (operands.length < least) throw new UsageError(`${command.name} needs ${command.operands}`);
  const extra = operands[most];
  if (extra !== undefined) {
    const advice = command.name === 'run' ? ': write -- in front of the command' : '';
    throw new UsageError(
      `${command.name} takes ${command.operands || 'nothing'}, and '${extra}' is more than that${advice}`,
    );
  }
  if (command.name !== 'run' && childCommand.length > 0) throw new UsageError('only run takes -- and a command');
}
