import { randomBytes } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { Test, type TestingModule } from '@nestjs/testing';
import { LockService } from '../../../../lib/engine/lock-service.js';
import { SigningKeys } from '../../../../lib/fencing/signed/keys.js';
import { signToken } from '../../../../lib/fencing/signed/signed-token.js';
import { FencedZnodes } from '../../../../lib/fencing/znodes/fenced-znodes.js';
import { type LockTicket, ticketOf } from '../../../../lib/fencing/znodes/ticket.js';
import { DistributedLockTestingModule } from '../../../../lib/extras/testing/distributed-lock-testing.module.js';
import { LockTesting } from '../../../../lib/extras/testing/lock-testing.js';
import type { LockHandle } from '../../../../lib/lock/handle.js';
import type { ContenderSnapshot, LockSnapshot } from '../../../../lib/lock/snapshot.js';
import { codeOf } from '../../../support/fencing/tokens.js';
import { eventually } from '../../../support/process/eventually.js';
import { telling } from '../../../support/telling.js';

const KEY = '/locks/a';
const ROOT = '/data';
const PATH = '/a';

describe('FencedZnodes over the lock service that Nest injects', () => {
  let module: TestingModule;
  let locks: LockService;
  let testing: LockTesting;
  let znodes: FencedZnodes;
  let lock: LockHandle;

  beforeEach(async () => {
    module = await Test.createTestingModule({
      imports: [DistributedLockTestingModule.forRoot({ shutdownGraceMs: 0, waitMs: 500 })],
    }).compile();
    await module.init();
    [locks, testing] = [module.get(LockService), module.get(LockTesting)];
    znodes = new FencedZnodes({ locks, root: ROOT });
    lock = await locks.acquire(KEY);
  });
  afterEach(() => module.close());

  it('writes, reads and updates', async () => {
    await znodes.claim(PATH, lock);
    expect(await znodes.write(PATH, 'a', lock)).toBe(0);
    expect(await znodes.update(PATH, ticketOf(lock), (current) => `${String(current)}b`)).toBe(1);
    expect(await znodes.read(PATH)).toEqual({ data: Buffer.from('ab'), version: 1 });
  });

  it('refuses the ticket of a lost lock', async () => {
    const ticket = ticketOf(lock);
    await testing.lose(KEY);
    await testing.untilFree(KEY);
    expect(await codeOf(znodes.write(PATH, 'stale', ticket))).toBe('STALE_FENCING_TOKEN');
    expect(await znodes.read(PATH)).toBeUndefined();
  });

  it('gives up when the link stays away, and when the service is closed', async () => {
    const ticket = ticketOf(lock);
    await testing.suspend();
    expect(await codeOf(znodes.write(PATH, 'x', ticket))).toBe('LOCK_UNAVAILABLE');
    // What waits meanwhile is for deadline.test.ts: for its close the module lets the link come back, and both take their time.
    await module.close();
    expect(await codeOf(znodes.read(PATH))).toBe('LOCK_CLOSED');
  });

  it.each([
    ['no path', 'data'],
    ['the root', '/'],
    ['an empty segment', '/data//a'],
    ['dots', '/data/../a'],
    ['a NUL', '/data/\0'],
    ['an emoji', '/data/\u{1f512}'],
    ['a node of a queue', '/locks/a/_c_x-lock-0000000001'],
    ['the nodes of sessions', '/.sessions/x'],
    ['nothing', ''],
  ])('refuses %s before any input or output', async (_, path) => {
    await testing.suspend();
    expect(await codeOf(znodes.write(path, 'x', ticketOf(lock)))).toBe('LOCK_CONFIGURATION');
    expect(await codeOf(znodes.read(path))).toBe('LOCK_CONFIGURATION');
  });

  it.each([undefined, '', '/', 'data', '/data/', '/a//b', '/.sessions', 7])('refuses the root %p', (root) => {
    expect(() => new FencedZnodes({ locks, root: root as string })).toThrow('root must be the path below which data');
  });

  it('refuses a lock that has its key where the data is', async () => {
    const below = await locks.acquire('/data/app/migrate');
    await expect(znodes.write('/app', 'x', below)).rejects.toThrow(telling('Give one of the two another place'));
    expect(await codeOf(znodes.update('/app', ticketOf(below), () => 'x'))).toBe('LOCK_CONFIGURATION');
    const beside = await locks.acquire('/database');
    expect(await znodes.write('/base', 'x', beside)).toBe(0);
  });

  describe('in an update inside of an update', () => {
    const nested = (inner: string): Promise<unknown> =>
      codeOf(znodes.update(PATH, lock, async () => String(await znodes.update(inner, lock, () => 'inner'))));

    it('refuses the same path, which would wait for itself', async () => {
      expect(await nested(PATH)).toBe('LOCK_CONFIGURATION');
      const through = znodes.update(PATH, lock, async () =>
        String(await znodes.update('/b', lock, () => nested(PATH).then(String))),
      );
      await through;
      expect(String((await znodes.read('/b'))?.data)).toBe('LOCK_CONFIGURATION');
      expect(await znodes.update(PATH, lock, () => 'after')).toBe(1);
    });

    it('does not wait for the update of another path that waits for it', async () => {
      const inside = new Set<string>();
      let onBoth!: () => void;
      const both = new Promise<void>((resolve) => (onBoth = resolve));
      const crossed = (outer: string, inner: string): Promise<number> =>
        znodes.update(outer, lock, async () => {
          if (inside.has(outer)) return 'outer';
          if (inside.add(outer).size === 2) onBoth();
          await both;
          await znodes.update(inner, lock, () => 'inner');
          return 'outer';
        });
      await Promise.all([crossed('/one', '/two'), crossed('/two', '/one')]);
      for (const path of ['/one', '/two']) expect(String((await znodes.read(path))?.data)).toBe('outer');
    });

    it('sees none any more when the outer one is over', async () => {
      let onOver!: () => void;
      const over = new Promise<void>((resolve) => (onOver = resolve));
      let later: Promise<number> | undefined;
      await znodes.update(PATH, lock, () => {
        later = over.then(() => znodes.update(PATH, lock, () => 'later'));
        return 'first';
      });
      onOver();
      expect(await later).toBe(1);
    });
  });

  it('refuses more than ZooKeeper takes, and takes what it says', async () => {
    await expect(znodes.write(PATH, Buffer.alloc(1_000_001), lock)).rejects.toThrow('1000001 bytes for /a');
    expect(await znodes.write(PATH, Buffer.alloc(1_000_000), lock)).toBe(0);
  });

  it('refuses a lock that gives no right to write', async () => {
    await lock.release();
    const reader = await locks.acquire(KEY, { mode: 'read' });
    expect(await codeOf(znodes.write(PATH, 'x', reader))).toBe('LOCK_CONFIGURATION');
    expect(() => ticketOf(reader)).toThrow(telling('held as read, which gives no right to write'));
  });

  it.each([
    ['of a node that is always there', { nodePath: '/' }],
    ['of the queue itself', { nodePath: KEY }],
    ['of another queue', { nodePath: '/locks/b/_c_x-lock-0000000001' }],
    ['of a node that is no contender', { nodePath: `${KEY}/data` }],
    ['without a number', { fencingToken: 'none' }],
    ['without a node', { nodePath: undefined }],
  ])('refuses a ticket %s', async (_, change) => {
    const forged = { ...ticketOf(lock), ...change } as LockTicket;
    expect(await codeOf(znodes.write(PATH, 'x', forged))).toBe('INVALID_FENCING_TOKEN');
  });

  describe('where a ticket is unsigned', () => {
    /** As somebody makes it who can list the queue. */
    async function ticketOfNode(find: (snapshot: LockSnapshot) => ContenderSnapshot | undefined): Promise<LockTicket> {
      const { nodePath, fencingToken } = find(await locks.inspect(KEY))!;
      return { key: KEY, nodePath, fencingToken: fencingToken.toString() };
    }

    async function waiting(): Promise<{ ticket: LockTicket; turn: Promise<LockHandle> }> {
      const turn = locks.acquire(KEY, { waitMs: 20_000 });
      const ticket = await eventually('it waits', async () => {
        return (await locks.inspect(KEY)).queue.length > 0 && ticketOfNode(({ queue }) => queue[0]);
      });
      return { ticket, turn };
    }

    it('refuses one that waits, of this process or another, until it holds', async () => {
      const { ticket, turn } = await waiting();
      const write = (): Promise<unknown> => znodes.write(PATH, 'x', ticket);
      for (const call of [write, () => znodes.claim(PATH, ticket), () => znodes.remove(PATH, ticket)]) {
        await expect(call()).rejects.toMatchObject({
          code: 'INVALID_FENCING_TOKEN',
          details: expect.stringContaining('waits for its lock: others hold it'),
        });
      }
      expect(await znodes.read(PATH)).toBeUndefined();
      await lock.release();
      await turn;
      expect(await znodes.write(PATH, 'x', ticket)).toBe(0);
    });

    it('takes one whose predecessor in its own process has given back, and is not removed yet', async () => {
      const { ticket, turn } = await waiting();
      const writing = znodes.write(PATH, 'x', ticket);
      await Promise.all([lock.release(), turn]);
      expect(await writing).toBe(0);
    });

    it('refuses a reader, and an upgradeable one until it is upgraded', async () => {
      await lock.release();
      const reader = await locks.acquire(KEY, { mode: 'read' });
      const byReader = await ticketOfNode(({ holders }) => holders[0]);
      await expect(znodes.write(PATH, 'x', byReader)).rejects.toThrow(
        telling('it is that of a reader, or of an upgradeable'),
      );
      await reader.release();

      const upgradeable = await locks.acquire(KEY, { mode: 'upgradeable' });
      const byUpgrader = await ticketOfNode(({ holders }) => holders[0]);
      expect(await codeOf(znodes.write(PATH, 'x', byUpgrader))).toBe('INVALID_FENCING_TOKEN');
      await upgradeable.upgrade();
      expect(await znodes.write(PATH, 'x', byUpgrader)).toBe(0);
      expect(await znodes.write(PATH, 'y', ticketOf(upgradeable))).toBe(1);
    });

    it('tells its token', async () => {
      const another = { ...ticketOf(lock), fencingToken: String(lock.fencingToken + 1n) };
      await expect(znodes.write(PATH, 'x', another)).rejects.toThrow(telling('is not that of the node'));
    });
  });

  it('refuses the lock of something else, where it was told which lock protects what', async () => {
    const bound = new FencedZnodes({ locks, root: ROOT, lockKey: (path) => `/locks${path}` });
    await bound.write(PATH, 'x', lock);
    expect(await codeOf(bound.write('/b', 'x', lock))).toBe('INVALID_FENCING_TOKEN');
  });

  describe('with keys', () => {
    const keys = new SigningKeys({ issuer: 'me', current: { id: 'k', algorithm: 'HS256', secret: randomBytes(32) } });
    const lockKey = (path: string): string => `/locks${path}`;

    it('takes signed tickets and handles only', async () => {
      const signed = new FencedZnodes({ locks, root: ROOT, keys, lockKey });
      await signed.write(PATH, 'x', lock);
      await signed.write(PATH, 'y', ticketOf(lock, signToken(lock, keys)));
      expect(await codeOf(signed.write(PATH, 'z', ticketOf(lock)))).toBe('INVALID_FENCING_TOKEN');
    });

    it('does not take the signed token of an older lock with the node of the one that is held', async () => {
      const signed = new FencedZnodes({ locks, root: ROOT, keys, lockKey });
      const old = ticketOf(lock, signToken(lock, keys));
      await lock.release();
      expect(await codeOf(signed.write(PATH, 'x', old))).toBe('STALE_FENCING_TOKEN');
      const next = await locks.acquire(KEY);
      const mixed = { ...old, nodePath: next.nodePath };
      expect(await codeOf(signed.write(PATH, 'x', mixed))).toBe('INVALID_FENCING_TOKEN');
    });

    it('needs to be told which lock protects what', () => {
      expect(() => new FencedZnodes({ locks, root: ROOT, keys })).toThrow(
        'say with lockKey which lock protects which path',
      );
    });
  });
});

describe('FencedZnodes without ZooKeeper', () => {
  it('says that a lock service of another make has no connection', async () => {
    const other = Object.create(LockService.prototype) as LockService;
    await expect(new FencedZnodes({ locks: other, root: ROOT }).read(PATH)).rejects.toThrow(
      'was not made by this package',
    );
  });
});
