import { ConflictException, Inject, Injectable } from '@nestjs/common';
import { CurrentLock, injected, Locked, type LockHandle, LockKey, Recover } from 'nestjs-zookeeper-lock';
import { FencedFileStore } from 'nestjs-zookeeper-lock/fencing';

export interface Balances {
  readonly cash: number;
  readonly bank: number;
}

/** What a ledger has before anybody has used it. */
export const INITIAL: Balances = { cash: 100, bank: 0 };

/**
 * Two files change together, though a process may die between the two writes. The checkpoint says what both are to be, and
 * whoever is granted the lock next writes that first. Every method of this lock can recover: so nobody sees half a deposit.
 */
@Injectable()
export class LedgersService {
  constructor(@Inject(FencedFileStore) private readonly store: FencedFileStore) {}

  @Locked('/locks/ledgers/:ledger', { onAbandoned: 'recover' })
  async deposit(
    @LockKey('ledger') ledger: string,
    amount: number,
    @CurrentLock() lock: LockHandle = injected(),
  ): Promise<Balances> {
    const { cash, bank } = await this.#read(ledger);
    if (cash < amount) throw new ConflictException(`Only ${cash} in cash, ${amount} asked for`);
    const balances = { cash: cash - amount, bank: bank + amount };
    await lock.checkpoint(balances);
    await this.#write(ledger, balances, lock);
    return balances;
  }

  @Locked('/locks/ledgers/:ledger', { onAbandoned: 'recover' })
  async balances(@LockKey('ledger') ledger: string): Promise<Balances> {
    return this.#read(ledger);
  }

  /** To write the same again does no harm: the one that recovers may die, too. */
  @Recover('/locks/ledgers/:ledger')
  async finish(lock: LockHandle, { ledger }: { ledger: string }): Promise<void> {
    const balances = lock.abandoned?.checkpoint as Balances | undefined;
    // Who left no checkpoint had not yet written anything.
    if (balances !== undefined) await this.#write(ledger, balances, lock);
  }

  async #read(ledger: string): Promise<Balances> {
    const [cash, bank] = await Promise.all([this.#amount(ledger, 'cash'), this.#amount(ledger, 'bank')]);
    return { cash, bank };
  }

  async #amount(ledger: string, account: keyof Balances): Promise<number> {
    const file = await this.store.read(resourceOf(ledger, account));
    return file === undefined ? INITIAL[account] : Number(file.content.toString());
  }

  async #write(ledger: string, { cash, bank }: Balances, lock: LockHandle): Promise<void> {
    await this.store.write(resourceOf(ledger, 'cash'), String(cash), lock);
    await this.store.write(resourceOf(ledger, 'bank'), String(bank), lock);
  }
}

function resourceOf(ledger: string, account: keyof Balances): string {
  return `ledgers/${ledger}/${account}`;
}
