import { setTimeout as pause } from 'node:timers/promises';
import { describe, expect, it } from '@jest/globals';
import { Injectable } from '@nestjs/common';
import { Test } from '@nestjs/testing';
import { LockTesting, provideLockTesting } from '../../../lib/extras/testing/index.js';
import { LockConfigurationError, type LockHandle, Locked, LockService } from '../../../lib/index.js';
import { eventually } from '../../support/process/eventually.js';
import { freePort } from '../../support/proxy/ports.js';
import { memory, startApplication, type TestApplication } from '../support/application.js';
import { Recorder } from '../support/recorder.js';

const SHORT_SESSION_MS = 900;

@Injectable()
class Service {
  @Locked('/locks/:key')
  async run(key: string): Promise<string> {
    return key;
  }
}

type Options = Parameters<typeof startApplication>[1];

async function startRecorded(options: Options): Promise<TestApplication & { recorder: Recorder }> {
  const recorder = new Recorder();
  const application = await startApplication({ providers: [Service] }, options, (app) => app.useLogger(recorder));
  return { ...application, recorder };
}

async function startWithTesting(options: Parameters<typeof provideLockTesting>[0] = {}) {
  const recorder = new Recorder();
  const providers = provideLockTesting({ sessionTimeoutMs: SHORT_SESSION_MS, ...options });
  const module = await Test.createTestingModule({ providers }).compile();
  module.useLogger(recorder);
  await module.init();
  return {
    recorder,
    locks: module.get(LockService),
    testing: module.get(LockTesting),
    [Symbol.asyncDispose]: () => module.close(),
  };
}

describe('the log', () => {
  it('tells of the connection, by class name, and nothing of locks that come and go', async () => {
    const connect = memory();
    const { recorder, ...application } = await startRecorded({ connect });
    await application.get(Service).run('a');
    await application.get(Service).run('b');
    await application.app.close();

    expect(recorder.above('debug')).toEqual([
      expect.stringMatching(/^warn: Connection 'default': connect is 'memory:.* nobody else is excluded/),
      `log: Connection 'default': connected to ${connect}`,
    ]);
    expect(recorder.find('/locks/')).toEqual([]);
  });

  it('says once why the application does not start, whatever that makes of the error', async () => {
    const connect = `127.0.0.1:${await freePort()}`;
    const recorder = new Recorder();
    const starting = startApplication({}, { connect, connectTimeoutMs: 200 }, (app) => app.useLogger(recorder));
    await expect(starting).rejects.toThrow(/^The lock service is not available$/);

    expect(recorder.find('error: ')).toEqual([
      expect.stringMatching(new RegExp(`'default' could not connect to ${connect}, so .*ECONNREFUSED`)),
    ]);
  });

  it('says once what makes locks impossible from the start', async () => {
    const recorder = new Recorder();
    const options = { sessionTimeoutMs: 10_000, serverTickMs: 8_000 };
    const starting = startApplication({}, options, (app) => app.useLogger(recorder));
    await expect(starting).rejects.toThrow(LockConfigurationError);

    expect(recorder.find('error: ')).toEqual([expect.stringContaining('the servers granted 10000 ms')]);
  });

  it('warns of a lock that is lost', async () => {
    await using application = await startRecorded({});
    const lock = await application.locks.acquire('/locks/a', { leaseMs: 60_000, label: 'me' });
    lock.extend(10);
    const told = (): string[] => application.recorder.find('warn: The lock /locks/a was lost after');
    await eventually('it is told', () => told().length > 0);

    expect(lock.signal.aborted).toBe(true);
    expect(told()).toEqual([expect.stringContaining('its leaseMs has passed without extend() (me)')]);
  });

  it('warns of a result that came after the loss', async () => {
    await using application = await startRecorded({});
    let finish = (): void => undefined;
    const working = new Promise<void>((resolve) => (finish = resolve));
    // It must have begun when the lock is lost, however slow the machine is.
    const work = (lock: LockHandle): Promise<void> => {
      lock.extend(10);
      return working;
    };
    const running = application.locks.withLock('/locks/a', work, { leaseMs: 60_000 });
    await expect(running).rejects.toThrow('lost');
    finish();

    await eventually(
      'it is told',
      () => application.recorder.find('warn: The work under the lock /locks/a').length > 0,
    );
  });

  it('warns of a node that the servers refuse to remove', async () => {
    const acl = [{ permissions: 1 | 2 | 4, scheme: 'world', id: 'anyone' }];
    await using application = await startRecorded({ acl, waitMs: 50 });
    const lock = await application.locks.acquire('/locks/a', { waitMs: 10_000 });
    await lock.release();

    const told = `warn: Connection 'default': The servers refuse to remove ${lock.nodePath} (NO_AUTH)`;
    await eventually('it is told', () => application.recorder.find(told).length > 0);
    expect(application.recorder.find(told)).toHaveLength(1);
  });

  it('warns once of locks of this process alone, while ZooKeeper is away', async () => {
    const connect = `127.0.0.1:${await freePort()}`;
    await using application = await startRecorded({
      connect,
      connectTimeoutMs: 1_000,
      waitMs: 1_000,
      whenUnavailable: 'local',
    });
    await application.get(Service).run('a');
    await application.get(Service).run('b');

    expect(application.recorder.find("warn: Connection 'default': starting without ZooKeeper")).toHaveLength(1);
    expect(application.recorder.find('is locked in this process only').map((line) => line.split(':')[0])).toEqual([
      'warn',
      'debug',
    ]);
  });

  it('warns of a start that waits for ZooKeeper, once all servers have refused, and every five seconds', async () => {
    const connect = `127.0.0.1:${await freePort()},127.0.0.1:${await freePort()}`;
    const recorder = new Recorder();
    const starting = startApplication({}, { connect, connectTimeoutMs: 9_000 }, (app) => app.useLogger(recorder));
    const ending = starting.catch((error: unknown) => error);
    const warnings = (): string[] => recorder.find(`warn: Connection 'default': no ZooKeeper at ${connect}`);
    const startedAt = performance.now();
    await eventually('it is told', () => warnings().length === 1, { everyMs: 5 });
    expect(performance.now() - startedAt).toBeLessThan(4_000);
    expect(await ending).toMatchObject({ code: 'LOCK_UNAVAILABLE' });

    expect(warnings()).toHaveLength(2);
    for (const warning of warnings()) {
      expect(warning.match(/ECONNREFUSED/g)).toHaveLength(2);
      expect(warning).toMatch(/waits for it for another \d\.\d s \(connectTimeoutMs: 9000\)/);
    }
  }, 30_000);

  it("warns once, where startup is 'lazy', of a ZooKeeper that is away from the first lock on", async () => {
    const connect = `127.0.0.1:${await freePort()}`;
    await using application = await startRecorded({
      connect,
      startup: 'lazy',
      connectTimeoutMs: 500,
      sessionTimeoutMs: 1_000,
    });
    const { locks, recorder } = application;
    expect(recorder.above('debug')).toEqual([]);
    const first = locks.acquire('/locks/a', { waitMs: 500 }).catch((error: { code: string }) => error.code);
    await eventually(
      'it is told',
      () => recorder.find(`warn: Connection 'default': no ZooKeeper at ${connect}`).length === 1,
    );
    expect(await first).toBe('LOCK_UNAVAILABLE');
    await expect(locks.acquire('/locks/b', { waitMs: 100 })).rejects.toMatchObject({ code: 'LOCK_UNAVAILABLE' });
    await eventually('it counts as lost', () => locks.connectionState === 'lost');
    await expect(locks.tryAcquire('/locks/a')).rejects.toMatchObject({ code: 'LOCK_UNAVAILABLE' });

    expect(recorder.above('debug')).toEqual([expect.stringContaining('ECONNREFUSED')]);
  });

  it('warns once for each time that ZooKeeper is away, of locks of this process alone', async () => {
    await using application = await startWithTesting({
      whenUnavailable: 'local',
      waitMs: 100,
      sessionTimeoutMs: 40_000,
    });
    const { testing, locks, recorder } = application;
    for (let outage = 1; outage <= 3; outage += 1) {
      await testing.suspend();
      for (const key of ['/locks/a', '/locks/b']) await (await locks.acquire(key)).release();
      await testing.resume();
      await testing.untilState('reconnected');

      const levels = recorder.find('is locked in this process only').map((line) => line.split(':')[0]);
      expect(levels).toEqual(Array.from({ length: outage }, () => ['warn', 'debug']).flat());
    }
  });

  it('warns of a waitMs below what a hand-over after a crash takes', async () => {
    const asked = { sessionTimeoutMs: 8_000, serverTickMs: 2_000 };
    await using short = await startRecorded({ ...asked, waitMs: 9_999 });
    await using long = await startRecorded({ ...asked, waitMs: 10_000 });

    expect(short.recorder.find("warn: Connection 'default': waitMs (9999) is less")).toHaveLength(1);
    expect(long.recorder.find('waitMs')).toEqual([]);
  });

  it('warns once, at boot, of credentials without tls, and not where no network is', async () => {
    const auth = { username: 'app', password: 'correct horse battery staple' };
    const connect = `127.0.0.1:${await freePort()}`;
    await using open = await startRecorded({ connect, auth, startup: 'lazy', connectTimeoutMs: 100 });
    const told = "warn: Connection 'default': auth is set and tls is not";
    expect(open.recorder.find(told)).toHaveLength(1);
    await open.locks.acquire('/locks/a', { waitMs: 100 }).catch(() => undefined);
    expect(open.recorder.find(told)).toHaveLength(1);
    expect(open.recorder.find(auth.password)).toEqual([]);

    await using safe = await startRecorded({ connect, auth, tls: {}, startup: 'lazy' });
    await using memory = await startRecorded({ auth });
    await using anonymous = await startRecorded({ connect, startup: 'lazy' });
    for (const { recorder } of [safe, memory, anonymous]) expect(recorder.find('tls is not')).toEqual([]);
  });

  it('warns once, at boot, of servers that nobody checks', async () => {
    const connect = `127.0.0.1:${await freePort()}`;
    const told = "warn: Connection 'default': tls.rejectUnauthorized is false";
    await using careless = await startRecorded({ connect, tls: { rejectUnauthorized: false }, startup: 'lazy' });
    await using careful = await startRecorded({ connect, tls: { rejectUnauthorized: true }, startup: 'lazy' });
    expect(careless.recorder.find(told)).toHaveLength(1);
    expect(careful.recorder.find(told)).toEqual([]);
  });

  it('warns of the event loop also where the block has cost the lock', async () => {
    await using application = await startWithTesting();
    const lock = await application.locks.acquire('/locks/a');
    await pause(SHORT_SESSION_MS / 5);
    const end = performance.now() + 2 * SHORT_SESSION_MS;
    while (performance.now() < end);
    expect(lock.isHeld()).toBe(false);

    await eventually('it is told', () => application.recorder.find('warn: The event loop was blocked').length > 0);
  });

  it('says for how long held locks last when the link is down', async () => {
    await using application = await startWithTesting();
    await application.testing.suspend();
    await application.testing.untilState('lost');

    expect(
      application.recorder.find('held locks are lost unless it is back in time, in less than 900 ms'),
    ).toHaveLength(1);
    expect(application.recorder.find('has ended, or may have')).toHaveLength(1);
  });

  it('warns of an event loop that stood still for a noticeable part of the session time-out', async () => {
    await using application = await startRecorded({ sessionTimeoutMs: 4_000, serverTickMs: 1_000 });
    // What is measured is the time between two looks, of which there are twenty in a session time-out.
    await pause(400);
    const end = performance.now() + 1_300;
    while (performance.now() < end);

    await eventually('it is told', async () => {
      await application.get(Service).run('a');
      return application.recorder.find('warn: The event loop was blocked').length > 0;
    });
  });
});
