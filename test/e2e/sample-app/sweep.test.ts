import { mkdir, mkdtemp, readdir, readFile, rm, symlink, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { SchedulerRegistry } from '@nestjs/schedule';
import { describe, expect, it } from '@jest/globals';
import { eventually } from '../../support/process/eventually.js';
import { startSampleApp } from './support/start-sample-app.js';

describe('the job of the sample application', () => {
  it('is on the schedule, and removes what crashed writers left, not what a writer is at', async () => {
    await using sample = await startSampleApp();
    const folder = join(sample.dataDir, 'files%2Fjournal');
    await mkdir(folder, { recursive: true });
    await writeFile(join(folder, 'journal.1.left-behind.tmp'), 'half a li');
    await utimes(join(folder, 'journal.1.left-behind.tmp'), new Date(0), new Date(0));
    await writeFile(join(folder, 'journal.1.being-written.tmp'), 'half a li');

    const [job, ...others] = sample.get(SchedulerRegistry).getCronJobs().values();
    expect(others).toEqual([]);
    await job?.fireOnTick();

    await eventually('the sweep', async () => !(await readdir(folder)).includes('journal.1.left-behind.tmp'));
    expect(await readdir(folder)).toEqual(['journal.1.being-written.tmp']);
    // An instance whose clock is behind comes to the same tick when the job is done.
    expect(await (await sample.post('/jobs/sweep')).json()).toEqual({ ran: false });
  });

  it('touches nothing that the store has not made, and follows no link', async () => {
    await using sample = await startSampleApp();
    const old = new Date(0);
    const outside = await mkdtemp(join(tmpdir(), 'sample-app-outside-'));
    const precious = join(outside, 'journal.1.precious.tmp');
    await writeFile(precious, 'not of the store');
    await sample.request('/files/notes.tmp', {
      method: 'PUT',
      headers: { 'content-type': 'text/plain' },
      body: 'mine',
    });
    const folder = join(sample.dataDir, 'files%2Fnotes.tmp');
    const others = ['mine.tmp', 'journal.1.tmp', 'journal.x.y.tmp'].map((name) => join(folder, name));
    for (const path of others) await writeFile(path, 'somebody put it there');
    await symlink(outside, join(sample.dataDir, 'linked'));
    await symlink(precious, join(folder, 'journal.1.linked.tmp'));
    await symlink(outside, join(folder, 'journal.1.folder.tmp'));
    await mkdir(join(folder, 'journal.1.inner.tmp'));
    await writeFile(join(folder, 'journal.1.left-behind.tmp'), 'half a li');
    for (const path of [precious, folder, ...others, join(folder, 'journal.1.inner.tmp')]) await utimes(path, old, old);
    await utimes(join(folder, 'journal.1.left-behind.tmp'), old, old);
    await utimes(folder, old, old);

    const answer = await sample.post('/jobs/sweep');
    expect(await answer.json()).toEqual({ ran: true, removed: 1 });
    expect(await readFile(precious, 'utf8')).toBe('not of the store');
    expect((await readdir(folder)).sort()).toEqual(
      [
        'journal.0',
        'journal.1.folder.tmp',
        'journal.1.inner.tmp',
        'journal.1.linked.tmp',
        'journal.1.tmp',
        'journal.x.y.tmp',
        'mine.tmp',
      ].sort(),
    );
    expect(await (await sample.request('/files/notes.tmp')).text()).toBe('mine');
    await rm(outside, { recursive: true });
  });
});
