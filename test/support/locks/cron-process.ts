import 'reflect-metadata';
import { setTimeout as pause } from 'node:timers/promises';
import { Injectable, Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { Cron, ScheduleModule } from '@nestjs/schedule';
import { DistributedLockModule, Locked, LockService } from '../../../lib/index.js';
import { sendToParent } from '../process/parent.js';
import { TICK_MS } from './times.js';

/** An instance of an application whose jobs every instance starts by its own clock. It says what came of each start. */
const [connect = '', atLeastMs = '', periodMs = ''] = process.argv.slice(2);
const RUNS_MS = 20;
const EVERY = `*/${Number(periodMs) / 1_000} * * * * *`;

/** Of this instance's clock. */
function now(): { readonly tick: number; readonly lateMs: number } {
  const ms = Date.now();
  return { tick: Math.floor(ms / Number(periodMs)), lateMs: ms % Number(periodMs) };
}

@Injectable()
class Jobs {
  @Locked('/jobs/with', { waitMs: 0, onBusy: 'skip', atLeastMs: Number(atLeastMs) })
  @Cron(EVERY)
  async with(): Promise<void> {
    await this.#run('with');
  }

  @Locked('/jobs/without', { waitMs: 0, onBusy: 'skip' })
  @Cron(EVERY)
  async without(): Promise<void> {
    await this.#run('without');
  }

  async #run(job: string): Promise<void> {
    await sendToParent({ type: 'runs', job, tick: now().tick });
    await pause(RUNS_MS);
  }
}

@Module({
  imports: [
    DistributedLockModule.forRoot({ connect, serverTickMs: TICK_MS, sessionTimeoutMs: 20 * TICK_MS }),
    ScheduleModule.forRoot(),
  ],
  providers: [Jobs],
})
class Instance {}

const app = await NestFactory.createApplicationContext(Instance, { logger: false });
app.get(LockService).events$.subscribe((event) => {
  const { type, key } = event;
  if (type === 'acquired') void sendToParent({ type: 'answered', key, ...now() });
  else if (type === 'failed' && 'code' in event.error && event.error.code === 'LOCK_TIMEOUT')
    void sendToParent({ type: 'answered', key, ...now() });
  else if (type !== 'released') void sendToParent({ type: 'trouble', event: JSON.stringify(event) });
});
// Listening keeps the process alive, and tells it of its parent's end.
process.on('disconnect', () => process.exit());
await sendToParent({ type: 'ready' });
