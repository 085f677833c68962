import { afterEach, describe, expect, it } from '@jest/globals';
import { createLockDoctor, type LockDoctor, type LockDoctorOptions } from '../../../../lib/extras/doctor/index.js';
import { createLockService } from '../../../../lib/open.js';
import { rejection } from '../../engine/support/engine-world.js';

const CONNECT = 'memory:doctor-options';
const WHY = { by: 'ada', reason: 'stuck' };

describe('createLockDoctor', () => {
  let doctor: LockDoctor | undefined;

  afterEach(() => doctor?.close());

  it('connects as the application does, sees its locks, and ends with its close', async () => {
    await using locks = await createLockService({ connect: CONNECT, namespace: '/app' });
    await using lock = await locks.acquire('/locks/a');
    doctor = await createLockDoctor({ connect: CONNECT, namespace: '/app' });
    let isComplete = false;
    doctor.events$.subscribe({ complete: () => (isComplete = true) });
    const { ended } = await doctor.break('/locks/a', { token: lock.fencingToken, ...WHY, graceMs: 0 });
    expect(ended).toBe('removed by force');
    await doctor.close();
    expect(isComplete).toBe(true);
    const afterwards = await rejection(doctor.drain('/locks/a', WHY));
    expect(afterwards).toMatchObject({ code: 'LOCK_CLOSED' });
  });

  it.each<[string, object]>([
    ['connect: must be', {}],
    ["client: 'wire'", { connect: CONNECT, client: 'native' }],
    ['lockDelayMs: is not an option', { connect: CONNECT, lockDelayMs: 5 }],
    ['logger: must be an object with log(message)', { connect: CONNECT, logger: { log: () => undefined } }],
    ['options: must be an object', 5 as unknown as object],
  ])('refuses, with "%s", %j', async (text, options) => {
    const error = await rejection(createLockDoctor(options as LockDoctorOptions));
    expect(error).toMatchObject({ code: 'LOCK_CONFIGURATION', details: expect.stringContaining(text) });
  });

  it('refuses what is no key before any I/O', async () => {
    doctor = await createLockDoctor({ connect: CONNECT });
    for (const key of ['locks/a', '/locks/~drained', '/a//b']) {
      expect(await rejection(doctor.drain(key, WHY))).toMatchObject({ code: 'INVALID_LOCK_KEY' });
      expect(await rejection(doctor.break(key, { token: 1n, ...WHY }))).toMatchObject({ code: 'INVALID_LOCK_KEY' });
    }
  });
});
