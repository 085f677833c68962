import { closeSync, constants, openSync, readFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';

export interface Balances {
  readonly one: number;
  readonly other: number;
}

/** Each line is of the same length, so that one write of the system replaces it: a file is never torn. */
const DIGITS = 12;

/** Two accounts in two files. Nothing makes a transfer between them whole but whoever writes both. */
export class Accounts {
  constructor(private readonly folder: string) {}

  read(): Balances {
    return { one: this.#read('one'), other: this.#read('other') };
  }

  write(account: keyof Balances, balance: number): void {
    const file = openSync(this.#path(account), constants.O_WRONLY | constants.O_CREAT);
    writeSync(file, String(balance).padStart(DIGITS), 0);
    closeSync(file);
  }

  sum(): number {
    const { one, other } = this.read();
    return one + other;
  }

  #read(account: keyof Balances): number {
    return Number(readFileSync(this.#path(account), 'utf8'));
  }

  #path(account: keyof Balances): string {
    return join(this.folder, account);
  }
}
