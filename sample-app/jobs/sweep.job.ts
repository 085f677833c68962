import { Inject, Injectable, Logger } from '@nestjs/common';
import { Cron, CronExpression } from '@nestjs/schedule';
import { CurrentLock, injected, Locked, type LockHandle } from 'nestjs-zookeeper-lock';
import { FencedFileStore } from 'nestjs-zookeeper-lock/fencing';
import { SETTINGS, type Settings } from '../settings.js';
import { removeLeftBehind } from './left-behind.js';

export interface Sweep {
  readonly removed: number;
}

/** What the job writes down about itself. */
const RECORD = 'jobs/sweep';
/** Half of the schedule: less means that another instance had the same tick. */
const SAME_TICK_MS = 30_000;

/**
 * Removes what crashed writers left behind, once a minute in the whole fleet. The store does so itself for a file that is
 * used again; this is for those that are not.
 */
@Injectable()
export class SweepJob {
  readonly #logger = new Logger(SweepJob.name);

  constructor(
    @Inject(SETTINGS) private readonly settings: Pick<Settings, 'dataDir'>,
    @Inject(FencedFileStore) private readonly store: FencedFileStore,
  ) {}

  /**
   * The lock alone is not enough for "once": the job is so short that an instance whose clock is a second behind would
   * find it free again. What was done is written down under the lock, and asked first.
   */
  @Cron(CronExpression.EVERY_MINUTE)
  @Locked('/locks/jobs/sweep', { waitMs: 1_000, onBusy: 'skip' })
  async sweep(@CurrentLock() lock: LockHandle = injected()): Promise<Sweep | undefined> {
    await this.store.claim(RECORD, lock);
    const last = await this.store.read(RECORD);
    if (last !== undefined && Date.now() - Number(last.content.toString()) < SAME_TICK_MS) return undefined;
    await this.store.write(RECORD, String(Date.now()), lock);
    const removed = await removeLeftBehind(this.settings.dataDir);
    this.#logger.debug(`Removed ${removed} temporary files`);
    return { removed };
  }
}
