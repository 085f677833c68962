import { parseArgs, type ParseArgsConfig } from 'node:util';

/** As shells and their tools have it. */
const WRONG_USE = 2;
/** So that every number from here on is an exact one. */
const MOST_DIGITS = 15;

/**
 * The options of a command that people type. `--help` prints the usage; what is wrong with them is said in one line,
 * not with a stack trace, and ends the process, too.
 */
export function readCommandLine<T extends ParseArgsConfig>(usage: string, config: T): ReturnType<typeof parseArgs<T>> {
  if (process.argv.slice(2).includes('--help')) {
    process.stdout.write(`${usage}\n`);
    process.exit(0);
  }
  try {
    return parseArgs(config);
  } catch (error) {
    return refuse(problemIn(error instanceof Error ? error.message : String(error)));
  }
}

export function refuse(problem: string): never {
  process.stderr.write(`${problem} (--help says what there is)\n`);
  process.exit(WRONG_USE);
}

export function positiveInteger(option: string, value: string): number {
  if (new RegExp(`^[1-9]\\d{0,${MOST_DIGITS - 1}}$`).test(value)) return Number(value);
  return refuse(`${option} takes a whole number from 1 on, not '${value}'`);
}

/** Node's own words are several sentences, of advice that does not fit. */
function problemIn(message: string): string {
  const [, dashed] = /^Option '(--?[\w-]+)[^']*' argument is ambiguous/.exec(message) ?? [];
  if (dashed !== undefined) return `${dashed} takes no value that begins with a dash`;
  return message.split(/\.\s/)[0] ?? message;
}
