import { readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { FencedZnodes } from '../../../lib/fencing/znodes/fenced-znodes.js';
import { LockConfigurationError } from '../../../lib/lock/errors.js';
import type { DistributedLockOptions } from '../../../lib/options.js';
import { openLockService, resolveOptions, surroundingsInMemory } from '../../../lib/open.js';
import { NATIVE_LIMITS } from '../../../lib/session/native-limits.js';
import { EmbeddedEnsemble } from '../../../lib/session/simulator/embedded.js';
import { outcomeOf } from '../../support/locks/witness.js';
import { eventually } from '../../support/process/eventually.js';
import { telling } from '../../support/telling.js';

const NATIVE = { connect: 'zk1:2181', client: 'native' } as const;
const READ_ONLY = [{ permissions: 1, scheme: 'world', id: 'anyone' }];

const REFUSED_OPTIONS: Partial<Record<keyof typeof NATIVE_LIMITS, Partial<DistributedLockOptions>>> = {
  tls: { tls: {} },
  auth: { auth: { username: 'orders', password: 'secret' } },
  acl: { acl: READ_ONLY },
  lockDelayMs: { lockDelayMs: 1 },
  'memory:': { connect: 'memory:' },
};

function resolve(options: Partial<DistributedLockOptions>): unknown {
  try {
    return resolveOptions({ ...NATIVE, ...options });
  } catch (error) {
    return error;
  }
}

/** A lock service with the limits of `native`, whose requests an ensemble in memory counts. */
function openLimited() {
  const ensemble = new EmbeddedEnsemble();
  const around = surroundingsInMemory(Promise.resolve(ensemble));
  return { ...openLockService(resolveOptions(NATIVE), around), ensemble };
}

describe("The client 'native'", () => {
  it.each(Object.entries(REFUSED_OPTIONS))('refuses the option %s, and says to use wire', (feature, options) => {
    const failure = resolve(options);

    expect(failure).toBeInstanceOf(LockConfigurationError);
    const why = NATIVE_LIMITS[feature as keyof typeof NATIVE_LIMITS];
    expect(failure).toMatchObject({
      message: expect.stringMatching(new RegExp(`^${feature}: .*: ${why}\\. Use client: 'wire'$`)),
    });
    expect(String(failure)).not.toContain('secret');
    expect(resolve({})).toMatchObject({ client: 'native' });
  });

  it('takes rights for anyone, and a lock-delay of 0, as they are what it does', () => {
    const acl = [{ permissions: 31, scheme: 'world', id: 'anyone' }];

    expect(resolve({ acl, lockDelayMs: 0 })).toMatchObject({ client: 'native', acl, lockDelayMs: 0 });
  });

  it('refuses upgradeable locks before anything is sent, however they are asked for', async () => {
    const { service, ensemble } = openLimited();
    try {
      const mode = 'upgradeable';
      const asked: Promise<unknown>[] = [
        service.acquire('/locks/a', { mode }),
        service.tryAcquire('/locks/a', { mode }),
        service.withLock('/locks/a', () => 'was inside', { mode }),
        service.acquireAll([{ key: '/locks/a', mode }]),
        service.transaction((tx) => tx.lock('/locks/a', mode)),
      ];
      for (const outcome of await Promise.all(asked.map((call) => outcomeOf(call)))) {
        expect(outcome).toMatchObject({ code: 'LOCK_CONFIGURATION', key: '/locks/a' });
        expect(outcome).toEqual(telling(NATIVE_LIMITS.upgradeable));
      }
      await using lock = await service.acquire('/locks/b', { mode: 'write' });
      expect(lock.isHeld()).toBe(true);
    } finally {
      await service.close(0);
      ensemble.stop();
    }
  });

  it.each([
    ['onAbandoned', { onAbandoned: 'enter' }],
    ['atLeastMs', { atLeastMs: 5 }],
  ] as const)('refuses %s before anything is sent, however it is asked for', async (feature, options) => {
    const { service, ensemble } = openLimited();
    try {
      const asked: Promise<unknown>[] = [
        service.acquire('/locks/a', options),
        service.tryAcquire('/locks/a', options),
        service.withLock('/locks/a', () => 'was inside', options),
        service.acquireAll(['/locks/a'], options),
      ];
      for (const outcome of await Promise.all(asked.map((call) => outcomeOf(call)))) {
        expect(outcome).toMatchObject({ code: 'LOCK_CONFIGURATION', key: '/locks/a' });
        expect(outcome).toEqual(telling(NATIVE_LIMITS[feature]));
      }
    } finally {
      await service.close(0);
      ensemble.stop();
    }
  });

  it('hands no lock over inside the process before the node of the one that leaves is gone', async () => {
    const { service, ensemble } = openLimited();
    try {
      const first = await service.acquire('/locks/a');
      let isGranted = false;
      const second = service.acquire('/locks/a').then((lock) => {
        isGranted = true;
        return lock;
      });
      await eventually('it queues', async () => (await service.inspect('/locks/a')).queue.length === 1);

      const released = first.release();
      // What takes no answer of a server is done within these.
      for (let turn = 0; turn < 100; turn += 1) await Promise.resolve();
      expect(isGranted).toBe(false);

      await released;
      await (await second).release();
    } finally {
      await service.close(0);
      ensemble.stop();
    }
  });

  it('refuses FencedZnodes before anything is sent', async () => {
    const { service, ensemble } = openLimited();
    try {
      const znodes = new FencedZnodes({ locks: service, root: '/settings' });
      await using lock = await service.acquire('/locks/a');
      const calls: Promise<unknown>[] = [
        znodes.claim('/prices', lock),
        znodes.write('/prices', '1', lock),
        znodes.remove('/prices', lock),
      ];
      for (const outcome of await Promise.all(calls.map((call) => outcomeOf(call)))) {
        expect(outcome).toBeInstanceOf(LockConfigurationError);
        expect(outcome).toEqual(telling(NATIVE_LIMITS.FencedZnodes));
      }
    } finally {
      await service.close(0);
      ensemble.stop();
    }
  });

  it('has one table of what it refuses, and the docs have the same', () => {
    const page = readFileSync(new URL('../../../docs/native-client.md', import.meta.url), 'utf8');
    const rows = [...page.matchAll(/^\| `(\S+)` \| (.*) \|$/gm)].map(([, feature, why]) => [feature, why]);

    const plain = (why: string): string => why.replace(/^it (is|makes|has|connects)/, '$1');
    expect(rows).toEqual(Object.entries(NATIVE_LIMITS).map(([feature, why]) => [feature, plain(why)]));
    const elsewhere = ['onAbandoned', 'atLeastMs', 'upgradeable', 'FencedZnodes', 'createLockDoctor'];
    expect([...Object.keys(REFUSED_OPTIONS), ...elsewhere].sort()).toEqual(Object.keys(NATIVE_LIMITS).sort());
  });
});
