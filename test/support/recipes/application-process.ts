import 'reflect-metadata';
import { join } from 'node:path';
import { Module, type Type } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { ScheduleModule, SchedulerRegistry } from '@nestjs/schedule';
import { DistributedLockModule, LockService } from '../../../lib/index.js';
import { onParentMessage, sendToParent } from '../process/parent.js';

/** An application with one recipe of the page, and the class that stands for the part of its reader. */
const [folder = '', recipe = '', standIn = '', connect = '', sessionTimeoutMs = '', tickMs = ''] =
  process.argv.slice(2);

/** `planner:Planner` is the class `Planner` of `planner.ts`. */
async function load(place: string): Promise<Type> {
  const [file, name = ''] = place.split(':');
  const exports = (await import(join(folder, `${file}.ts`))) as Record<string, Type>;
  return exports[name]!;
}

@Module({
  imports: [
    DistributedLockModule.forRoot({
      connect,
      sessionTimeoutMs: Number(sessionTimeoutMs),
      serverTickMs: Number(tickMs),
      connectTimeoutMs: Number(process.env['RECIPE_CONNECT_WITHIN_MS'] ?? 15_000),
    }),
    ScheduleModule.forRoot(),
  ],
  providers: [await load(recipe), await load(standIn)],
})
class Application {}

const app = await NestFactory.createApplicationContext(Application, { logger: ['error'] });
app.enableShutdownHooks();
const jobs = [...app.get(SchedulerRegistry).getCronJobs().values()];
// They run when the test says so, and at no time of the day.
for (const job of jobs) await job.stop();
const fire = (): void => {
  for (const job of jobs) void job.fireOnTick();
};
app.get(LockService).events$.subscribe((event) => {
  const code = event.type === 'failed' && 'code' in event.error ? event.error.code : undefined;
  // A busy machine answers too late for a job that tries once: another start takes the place of that one.
  if (code === 'LOCK_UNAVAILABLE' && jobs.length > 0) fire();
  else void sendToParent({ type: 'lock', event: event.type });
});
onParentMessage((message) => {
  if (message === 'fire') fire();
  else process.emit(message as never);
});
await sendToParent({ type: 'ready' });
