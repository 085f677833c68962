import { createRequire } from 'node:module';
import { LockError, type LockErrorCode } from '../../lock/errors.js';
import { visible } from '../../lock/visible.js';
import { checkAgainst, readCommandLine } from './command-line.js';
import { COMMANDS } from './commands/commands.js';
import { connectionOf } from './connection.js';
import { EXIT } from './exit-codes.js';
import { commandHelp, generalHelp } from './help.js';
import { Terminal } from './terminal.js';
import { UsageError } from './usage-error.js';

/**
 * Carries out a command line.
 * @returns the exit code
 */
export async function main(args: readonly string[]): Promise<number> {
  // The terminal must know before the arguments are understood: what is wrong with them is said in JSON, too.
  const terminal = new Terminal(args.slice(0, endOfOwn(args)).includes('--json'));
  const exitCode = await carryOut(args, terminal).catch((error: unknown) => tellError(error, terminal));
  return (await terminal.written()) ? exitCode : EXIT.fault;
}

async function carryOut(args: readonly string[], terminal: Terminal): Promise<number> {
  const line = readCommandLine(args, COMMANDS);
  const { flags, operands, childCommand } = line;
  const asksForHelp = line.command === 'help';
  const name = asksForHelp ? operands[0] : line.command;
  if (flags.isSet('version')) {
    terminal.print(versionOfPackage());
    return EXIT.done;
  }
  const command = COMMANDS.find((one) => one.name === name);
  if (command === undefined && name !== undefined)
    throw new UsageError(`there is no command '${name}'. There are: ${COMMANDS.map((one) => one.name).join(', ')}`);
  if (command === undefined || asksForHelp || flags.isSet('help')) {
    const isAsked = asksForHelp || flags.isSet('help');
    const help = command === undefined ? generalHelp(COMMANDS) : commandHelp(command);
    if (isAsked) terminal.print(help);
    else process.stderr.write(`${help}\n`);
    return isAsked ? EXIT.done : EXIT.wrongUse;
  }
  checkAgainst(command, line);
  const connection = connectionOf(flags, process.env);
  return command.run({ operands, childCommand, flags, connection, terminal });
}

function endOfOwn(args: readonly string[]): number {
  const end = args.indexOf('--');
  return end === -1 ? args.length : end;
}

const EXIT_BY_CODE: Partial<Record<LockErrorCode, number>> = {
  LOCK_CONFIGURATION: EXIT.wrongUse,
  INVALID_LOCK_KEY: EXIT.wrongUse,
  LOCK_UNAVAILABLE: EXIT.unavailable,
  LOCK_CLOSED: EXIT.unavailable,
};

/** Says in one or two sentences what went wrong. */
function tellError(error: unknown, terminal: Terminal): number {
  if (error instanceof UsageError) {
    terminal.tell(`${visible(error.message)} (zk-lock --help says what there is)`, { code: 'USAGE' });
    return EXIT.wrongUse;
  }
  if (error instanceof LockError) {
    terminal.tell(visible(error.details), { code: error.code, key: error.key });
    return EXIT_BY_CODE[error.code] ?? EXIT.no;
  }
  terminal.tell(`a fault of zk-lock itself: ${visible(String(error))}`, { code: 'FAULT' });
  return EXIT.fault;
}

function versionOfPackage(): string {
  // The package knows itself by its name, wherever this file lies in it.
  const manifest = createRequire(import.meta.url)('nestjs-zookeeper-lock/package.json') as { readonly version: string };
  return manifest.version;
}
