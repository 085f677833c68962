import type { LoggerService } from '@nestjs/common';

/** A logger that keeps what the lock service logs. */
export class Recorder implements LoggerService {
  readonly lines: string[] = [];
  readonly #add =
    (level: string) =>
    (message: string, ...rest: unknown[]): void => {
      // Errors have a place for their stack in between.
      if (rest.at(-1) === 'LockService') this.lines.push(`${level}: ${message}`);
    };
  readonly debug = this.#add('debug');
  readonly log = this.#add('log');
  readonly warn = this.#add('warn');
  readonly error = this.#add('error');
  readonly fatal = this.#add('fatal');
  readonly verbose = this.#add('verbose');

  above(level: string): string[] {
    return this.lines.filter((line) => !line.startsWith(level));
  }

  find(text: string): string[] {
    return this.lines.filter((line) => line.includes(text));
  }
}
