import { describe, expect, it } from '@jest/globals';
import { Injectable } from '@nestjs/common';
import { Cron, ScheduleModule, SchedulerRegistry } from '@nestjs/schedule';
import { currentLock, Locked } from '../../../lib/index.js';
import { memory, startApplication } from '../support/application.js';
import { Gate } from '../support/gate.js';

@Injectable()
class Jobs {
  readonly gates: Gate[] = [];
  readonly ran: (string | undefined)[] = [];

  @Cron('0 0 1 1 *', { name: 'below' })
  @Locked('/locks/jobs/below', { waitMs: 100, onBusy: 'skip' })
  async below(): Promise<void> {
    await this.#run();
  }

  @Locked('/locks/jobs/above', { waitMs: 100, onBusy: 'skip' })
  @Cron('0 0 1 1 *', { name: 'above' })
  async above(): Promise<void> {
    await this.#run();
  }

  async #run(): Promise<void> {
    this.ran.push(currentLock()?.key);
    await this.gates[0]?.pass();
  }
}

describe.each(['above', 'below'])('@Locked %s a @Cron', (name) => {
  it('runs the job once in a fleet: the others skip it', async () => {
    const metadata = { imports: [ScheduleModule.forRoot()], providers: [Jobs] };
    const connect = memory();
    await using one = await startApplication(metadata, { connect });
    await using other = await startApplication(metadata, { connect });
    const fire = async (application: typeof one): Promise<void> => {
      await application.get(SchedulerRegistry).getCronJob(name).fireOnTick();
    };
    const gate = new Gate();
    one.get(Jobs).gates.push(gate);

    const running = fire(one);
    await gate.reached;
    await fire(other);
    expect(other.get(Jobs).ran).toEqual([]);

    gate.open();
    await running;
    expect(one.get(Jobs).ran).toEqual([`/locks/jobs/${name}`]);
  });
});
