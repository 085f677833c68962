import { Inject, Injectable, Logger, type OnApplicationShutdown } from '@nestjs/common';
import { type BreakResult, createLockDoctor, type DrainResult, type LockDoctor } from 'nestjs-zookeeper-lock/doctor';
import { SETTINGS, type Settings } from '../settings.js';

/** An application of yours knows who has logged in. */
const OPERATOR = 'an operator of the sample';

/** What an operator does to locks from outside. The lock doctor has a connection of its own, which is made when it is first needed. */
@Injectable()
export class OperatorsService implements OnApplicationShutdown {
  #doctor: Promise<LockDoctor> | undefined;

  constructor(@Inject(SETTINGS) private readonly settings: Settings) {}

  async break(key: string, token: bigint, reason: string): Promise<BreakResult> {
    return (await this.#open()).break(key, { token, reason, by: OPERATOR, graceMs: 5_000 });
  }

  async drain(key: string, reason: string): Promise<DrainResult> {
    return (await this.#open()).drain(key, { reason, by: OPERATOR, graceMs: 1_000 });
  }

  async clear(key: string, token: bigint, reason: string): Promise<unknown> {
    return (await this.#open()).clear(key, { token, reason, by: OPERATOR });
  }

  async onApplicationShutdown(): Promise<void> {
    await (await this.#doctor?.catch(() => undefined))?.close();
  }

  #open(): Promise<LockDoctor> {
    if (this.#doctor === undefined) {
      const { connect, sessionTimeoutMs, serverTickMs } = this.settings;
      const logger = new Logger('LockDoctor');
      this.#doctor = createLockDoctor({ connect, sessionTimeoutMs, serverTickMs, logger });
      // The next request tries again.
      this.#doctor.catch(() => (this.#doctor = undefined));
    }
    return this.#doctor;
  }
}
