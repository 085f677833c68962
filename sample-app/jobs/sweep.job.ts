import { Inject, Injectable, Logger } from '@nestjs/common';
import { Cron, CronExpression } from '@nestjs/schedule';
import { Locked } from 'nestjs-zookeeper-lock';
import { SETTINGS, type Settings } from '../settings.js';
import { removeLeftBehind } from './left-behind.js';

export interface Sweep {
  readonly removed: number;
}

/**
 * Removes what crashed writers left behind, once a minute in the whole fleet. The store does so itself for a file that is
 * used again; this is for those that are not.
 */
@Injectable()
export class SweepJob {
  readonly #logger = new Logger(SweepJob.name);

  constructor(@Inject(SETTINGS) private readonly settings: Pick<Settings, 'dataDir'>) {}

  /** The job is so short that an instance whose clock is behind would find the lock free again, but for `atLeastMs`. */
  @Cron(CronExpression.EVERY_MINUTE)
  @Locked('/locks/jobs/sweep', { atLeastMs: 30_000, waitMs: 0, onBusy: 'skip' })
  async sweep(): Promise<Sweep | undefined> {
    const removed = await removeLeftBehind(this.settings.dataDir);
    this.#logger.debug(`Removed ${removed} temporary files`);
    return { removed };
  }
}
