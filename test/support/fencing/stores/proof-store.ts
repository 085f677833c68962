import type { LockTicket } from '../../../../lib/fencing/znodes/ticket.js';
import type { SqlPlace } from '../sql/sql-world.js';
import type { LockService } from '../../../../lib/engine/lock-service.js';

/** What a writer has of its lock: data that was passed on, no handle. It cannot ask whether the lock is still held. */
export type Shown = LockTicket;

/** A text in some store, protected by a lock of its own; guarded, or as people write it who trust their lock. */
export interface ProofStore {
  readonly name: string;
  claim(shown: Shown): Promise<void>;
  read(): Promise<string>;
  write(text: string, shown: Shown): Promise<void>;
  close(): Promise<void>;
}

/** Where the stores are. */
export interface StorePlaces {
  readonly postgresUrl: string;
  readonly mariaDb: SqlPlace;
  readonly objectsUrl: string;
  readonly redisPort: number;
  readonly httpUrl: string;
  readonly folder: string;
}

export interface StoreSettings extends StorePlaces {
  readonly isGuarded: boolean;
  readonly locks: LockService;
}
