import { mkdir, readdir, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { SchedulerRegistry } from '@nestjs/schedule';
import { describe, expect, it } from '@jest/globals';
import { FencedFileStore } from '../../../lib/extras/fencing/file-store/fenced-file-store.js';
import { eventually } from '../../support/process/eventually.js';
import { startSampleApp } from './support/start-sample-app.js';

describe('the job of the sample application', () => {
  it('is on the schedule, and removes what crashed writers left, not what a writer is at', async () => {
    await using sample = await startSampleApp();
    const folder = join(sample.dataDir, 'files%2Fjournal');
    await mkdir(folder, { recursive: true });
    await writeFile(join(folder, 'left-behind.tmp'), 'half a li');
    await utimes(join(folder, 'left-behind.tmp'), new Date(0), new Date(0));
    await writeFile(join(folder, 'being-written.tmp'), 'half a li');

    const [job, ...others] = sample.get(SchedulerRegistry).getCronJobs().values();
    expect(others).toEqual([]);
    await job?.fireOnTick();

    await eventually('the sweep', async () => !(await readdir(folder)).includes('left-behind.tmp'));
    expect(await readdir(folder)).toEqual(['being-written.tmp']);
    expect(await sample.get(FencedFileStore).read('jobs/sweep')).toBeDefined();
  });
});
