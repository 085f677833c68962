import { Generations } from '../../../../../lib/fencing/file-store/generations.js';
import type { Journal } from '../../../../../lib/fencing/file-store/journal.js';

interface Interruption {
  /** Between the look at the journal and the record. */
  readonly before?: () => Promise<void>;
  /** When the record was added and synced, before its writer is told. */
  readonly after?: () => Promise<void>;
}

/** The worst moments: something happens around the first record that goes into each journal that is opened. */
export class InterruptedGenerations extends Generations {
  readonly #interrupt: Interruption;

  constructor(folder: string, interrupt: Interruption) {
    super(folder);
    this.#interrupt = interrupt;
  }

  override async open(): Promise<Journal | undefined> {
    const journal = await super.open();
    if (journal === undefined) return undefined;
    const append = journal.append.bind(journal);
    journal.append = async (record) => {
      journal.append = append;
      await this.#interrupt.before?.();
      const outcome = await append(record);
      await this.#interrupt.after?.();
      return outcome;
    };
    return journal;
  }
}
