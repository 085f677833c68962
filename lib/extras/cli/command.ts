import type { LockDoctorOptions } from '../doctor/doctor-options.js';
import type { Flags } from './flags.js';
import type { Terminal } from './terminal.js';

/** An option of the command line. */
export interface Flag {
  /** Without the dashes. */
  readonly name: string;
  /** What stands behind it, for the help: `FILE`. Undefined where nothing does. */
  readonly value?: string;
  readonly text: string;
}

/** The connection, as the module's own options say it. */
export type Connection = Omit<LockDoctorOptions, 'logger'>;

/** One call of the tool. */
export interface Call {
  /** What stands behind the name of the command, and is no option. */
  readonly operands: readonly string[];
  /** What stands behind `--`. */
  readonly childCommand: readonly string[];
  readonly flags: Flags;
  readonly connection: Connection;
  readonly terminal: Terminal;
}

export interface Command {
  readonly name: string;
  readonly group: 'Look' | 'Step in' | 'Use';
  /** What stands behind its name: `KEY`. */
  readonly operands: string;
  /** How many operands it takes: at least, and at most. */
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
