import type { LockDoctorOptions } from '../doctor/doctor-options.js';
import type { Flags } from './flags.js';
import type { Terminal } from './terminal.js';

/** An option of the command line. */
export interface Flag {
  /** Without the dashes. */
  readonly name: string;
  /** Names the value that stands behind it in the help: `FILE`. Undefined for a flag without a value. */
  readonly value?: string;
  readonly text: string;
}

/** The connection, as the module's own options say it. */
export type Connection = Omit<LockDoctorOptions, 'logger'>;

/** One call of the tool. */
export interface Call {
  /** The words behind the name of the command that are no options. */
  readonly operands: readonly string[];
  /** The words behind `--`. */
  readonly childCommand: readonly string[];
  readonly flags: Flags;
  readonly connection: Connection;
  readonly terminal: Terminal;
}

export interface Command {
  readonly name: string;
  readonly group: 'Look' | 'Step in' | 'Use';
  /** The help shows this behind the command's name: `KEY`. */
  readonly operands: string;
  /** The command takes at least, and at most, this many operands. */
  readonly operandCount: readonly [least: number, most: number];
  /** One line for the list of commands. */
  readonly summary: string;
  /** Paragraphs for its own help. */
  readonly about: readonly string[];
  readonly flags: readonly Flag[];
  readonly exitTexts: readonly (readonly [code: string, text: string])[];
  /** @returns the exit code */
  run(call: Call): Promise<number>;
}
