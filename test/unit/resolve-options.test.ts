import { generateKeyPairSync } from 'node:crypto';
import { inspect } from 'node:util';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { resolveTestingOptions } from '../../lib/extras/testing/testing-lock-service.js';
import { LockConfigurationError } from '../../lib/lock/errors.js';
import type { DistributedLockOptions } from '../../lib/options.js';
import { resolveOptions } from '../../lib/resolve-options.js';

const CONNECT = 'zk1:2181,zk2:2181/app';
const SECRET = 'correct horse battery staple';

function refusalOf(options: unknown): LockConfigurationError {
  try {
    resolveOptions(options as DistributedLockOptions);
  } catch (error) {
    if (error instanceof LockConfigurationError) return error;
    throw error;
  }
  throw new Error(`Not refused: ${inspect(options)}`);
}

function lockedKey(): string {
  return generateKeyPairSync('ec', {
    namedCurve: 'P-256',
    publicKeyEncoding: { type: 'spki', format: 'pem' },
    privateKeyEncoding: { type: 'pkcs8', format: 'pem', cipher: 'aes-256-cbc', passphrase: SECRET },
  }).privateKey;
}

describe('options', () => {
  it('have defaults for all but connect', () => {
    expect(resolveOptions({ connect: CONNECT })).toMatchObject({
      connect: CONNECT,
      sessionTimeoutMs: 10_000,
      serverTickMs: 2_000,
      namespace: '',
      auth: [],
      acl: [{ permissions: 31, scheme: 'world', id: 'anyone' }],
      tls: undefined,
      waitMs: 15_000,
      maxWaiting: Infinity,
      connectTimeoutMs: 15_000,
      startup: 'eager',
      shutdownGraceMs: 5_000,
      onSuspended: 'continue',
      whenUnavailable: 'reject',
      lockDelayMs: 0,
      alerts: { heldMs: 300_000, queueLength: 100, failures: 10 },
    });
  });

  it('keep every hold of a history where no threshold is given, and no history where none is asked for', () => {
    expect(resolveOptions({ connect: CONNECT, history: { keep: 20 } }).history).toEqual({ keep: 20, overMs: 0 });
    expect(resolveOptions({ connect: CONNECT }).history).toBeUndefined();
  });

  it('keep the other thresholds of alerts where one is given, and none where they are off', () => {
    const { alerts } = resolveOptions({ connect: CONNECT, alerts: { queueLength: Infinity } });
    expect(alerts).toEqual({ heldMs: 300_000, queueLength: Infinity, failures: 10 });
    expect(resolveOptions({ connect: CONNECT, alerts: false }).alerts).toBe(false);
  });

  it('keep what they are given', () => {
    const given = {
      connect: 'memory:',
      sessionTimeoutMs: 4_000,
      serverTickMs: 500,
      namespace: '/my-service',
      acl: [{ permissions: 1, scheme: 'world', id: 'anyone' }],
      tls: { servername: 'zk' },
      waitMs: 0,
      maxWaiting: 0,
      connectTimeoutMs: 1,
      startup: 'lazy',
      shutdownGraceMs: 0,
      onSuspended: 'stop',
      whenUnavailable: 'local',
      lockDelayMs: 1.5,
    } as const;
    const resolved = resolveOptions(given);
    expect(resolved).toMatchObject(given);
    expect(Object.isFrozen(resolved)).toBe(true);
  });

  it('make nodes that only their credentials may touch, unless acl says otherwise', () => {
    const auth = { username: 'app', password: SECRET };
    expect(resolveOptions({ connect: CONNECT, auth }).acl).toEqual([{ permissions: 31, scheme: 'auth', id: '' }]);
    const acl = [{ permissions: 1, scheme: 'world', id: 'anyone' }];
    expect(resolveOptions({ connect: CONNECT, auth, acl }).acl).toEqual(acl);
    const [credential] = resolveOptions({ connect: CONNECT, auth }).auth;
    expect(Buffer.from(credential!.credential).toString()).toBe(`app:${SECRET}`);
  });

  it('take who may use the nodes as a word', () => {
    const auth = { username: 'app', password: SECRET };
    const open = [{ permissions: 31, scheme: 'world', id: 'anyone' }];
    const creator = [{ permissions: 31, scheme: 'auth', id: '' }];
    expect(resolveOptions({ connect: CONNECT, auth, acl: 'open' }).acl).toEqual(open);
    expect(resolveOptions({ connect: CONNECT, acl: 'open' }).acl).toEqual(open);
    for (const proof of [{ auth }, { tls: () => ({}) }]) {
      expect(resolveOptions({ connect: CONNECT, acl: 'creator', ...proof }).acl).toEqual(creator);
    }
    expect(refusalOf({ connect: CONNECT, acl: 'creator', tls: {} }).message).toMatch(/^acl: 'creator' is for clients/);
  });

  it('make nodes with Kerberos that only the same principal may touch, and name the service of the servers', () => {
    const resolved = resolveOptions({ connect: CONNECT, auth: { scheme: 'kerberos' } });
    expect(resolved.acl).toEqual([{ permissions: 31, scheme: 'auth', id: '' }]);
    expect(resolved.kerberos).toEqual({ service: 'zookeeper', host: undefined, principal: undefined });
    expect([resolved.auth, Object.keys(resolved).includes('kerberos')]).toEqual([[], false]);
    const auth = { scheme: 'kerberos', service: 'zk', host: 'ensemble', principal: 'orders/a@B.TEST' } as const;
    expect(resolveOptions({ connect: CONNECT, auth }).kerberos).toEqual({
      service: 'zk',
      host: 'ensemble',
      principal: 'orders/a@B.TEST',
    });
  });

  it('need with Kerberos no ticket in memory, where everybody is taken at his word', () => {
    const resolved = resolveOptions({ connect: 'memory:', auth: { scheme: 'kerberos', principal: 'orders' } });
    expect(resolved.kerberos).toBeUndefined();
    expect(resolved.auth.map(({ credential }) => Buffer.from(credential).toString())).toEqual(['orders:']);
    expect(resolved.acl).toEqual([{ permissions: 31, scheme: 'auth', id: '' }]);
  });

  it("a namespace of '/' is none", () => {
    expect(resolveOptions({ connect: CONNECT, namespace: '/' }).namespace).toBe('');
  });

  it.each<[keyof DistributedLockOptions, unknown, string]>([
    ['connect', '', "'zk1:2181"],
    ['connect', undefined, "'memory:'"],
    ['connect', 42, 'a string'],
    ['connect', 'memory:/q/lock-0000000001', 'the segment "lock-0000000001"'],
    ['sessionTimeoutMs', 0, '1 or more and at most 2147483647, not 0'],
    ['sessionTimeoutMs', '10s', 'not "10s"'],
    ['sessionTimeoutMs', Number.NaN, 'number of milliseconds'],
    ['sessionTimeoutMs', 2 ** 31, 'at most 2147483647, not 2147483648'],
    ['sessionTimeoutMs', 10_000n, 'not 10000n'],
    ['serverTickMs', Object.create(null), 'not [object Object]'],
    ['serverTickMs', -1, '1 or more, not -1'],
    ['waitMs', -1, '0 or more, not -1'],
    ['waitMs', Infinity, 'not Infinity'],
    ['connectTimeoutMs', 0, '1 or more, not 0'],
    ['connectTimeoutMs', '15s', 'not "15s"'],
    ['shutdownGraceMs', -1, '0 or more'],
    ['lockDelayMs', -1, '0 or more'],
    ['history', true, 'must be an object such as { keep: 20, overMs: 1000 }, not true'],
    ['history', {}, 'keep must be a whole number from 1 to 100, not undefined'],
    ['history', { keep: 101 }, 'keep must be a whole number from 1 to 100, not 101'],
    ['history', { keep: 5, overMs: -1 }, 'overMs must be a number of milliseconds, 0 or more'],
    ['history', { keep: 5, over: 1 }, 'Did you mean overMs?'],
    ['alerts', true, 'must be false or thresholds, not true'],
    ['alerts', { heldMs: 0 }, 'heldMs must be a number above 0'],
    ['alerts', { heldms: 5 }, 'Did you mean heldMs?'],
    ['maxWaiting', -1, 'a whole number, 0 or more, or Infinity, not -1'],
    ['maxWaiting', 0.5, 'not 0.5'],
    ['lockDelayMs', true, 'not true'],
    ['namespace', 'my-service', 'absolute path'],
    ['namespace', '/my-service/', 'absolute path'],
    ['namespace', '/a//b', 'absolute path'],
    ['namespace', 42, 'absolute path'],
    ['namespace', null, 'absolute path'],
    ['namespace', Symbol('app'), 'not Symbol(app)'],
    ['namespace', '/q/lock-0000000001', 'the segment "lock-0000000001"'],
    ['namespace', '/app/.sessions', 'the segment ".sessions"'],
    ['auth', { username: '', password: 'p' }, '{ username, password }'],
    ['auth', { username: 'a:b', password: 'p' }, 'without a colon'],
    ['auth', { username: 'a' }, 'two strings'],
    ['auth', null, '{ username, password }'],
    ['auth', 'app:secret', '{ username, password }'],
    ['acl', 'world:anyone:r', "must be 'creator', 'open', or a list"],
    ['acl', 'toString', "must be 'creator', 'open', or a list"],
    ['acl', 'creator', "'creator' is for clients that the servers can tell apart: set auth, or tls with"],
    ['acl', { permissions: 31, scheme: 'world', id: 'anyone' }, 'a list'],
    ['auth', { scheme: 'digest', username: 'a', password: 'p' }, "scheme must be 'kerberos', or left out"],
    ['auth', { scheme: 'kerberos', keytab: '/etc/app.keytab' }, 'keytab is not a setting of kerberos'],
    ['auth', { scheme: 'kerberos', service: 'zookeeper/zk1' }, 'service must be one part of a principal'],
    ['auth', { scheme: 'kerberos', host: 'zk1@B.TEST' }, 'host must be one part of a principal'],
    ['auth', { scheme: 'kerberos', principal: '' }, 'principal must be a text, not empty'],
    ['acl', [], 'not empty'],
    ['acl', [{ permissions: 'crwda', scheme: 'world', id: 'anyone' }], 'a number'],
    ['acl', [null], '{ permissions, scheme, id }'],
    ['acl', [{ permissions: 0, scheme: 'world', id: 'anyone' }], 'a number from 1 to 31'],
    ['acl', [{ permissions: 32, scheme: 'world', id: 'anyone' }], 'a number from 1 to 31'],
    ['acl', [{ permissions: -1, scheme: 'world', id: 'anyone' }], 'a number from 1 to 31'],
    ['acl', [{ permissions: 1.5, scheme: 'world', id: 'anyone' }], 'a number from 1 to 31'],
    ['tls', true, 'an object'],
    ['tls', { ca: '/etc/ssl/ca.pem' }, 'a path?'],
    ['startup', 'soon', 'one of eager, lazy, not "soon"'],
    ['onSuspended', 'panic', 'one of continue, stop, not "panic"'],
    ['whenUnavailable', 'retry', 'one of reject, local, not "retry"'],
    ['memory', true, '{ allowInProduction: true }'],
    ['memory', null, '{ allowInProduction: true }'],
    ['memory', { allowInProduction: 'yes' }, '{ allowInProduction: true }'],
    ['memory', { allow: true }, '{ allowInProduction: true }'],
    ['memory', { allowInProduction: true }, "is only for connect: 'memory:'"],
    ['memory', {}, "is only for connect: 'memory:'"],
  ])('%s: %p is refused, with what was expected', (option, value, expected) => {
    const { message } = refusalOf({ connect: CONNECT, [option]: value });
    expect(message).toMatch(new RegExp(`^${option}: `));
    expect(message).toContain(expected);
  });

  it.each([undefined, null, CONNECT, 42])('%p in place of all is refused', (options) => {
    expect(refusalOf(options).message).toMatch(/^options: must be an object/);
  });

  it('keep the longest session time-out that there is on the wire', () => {
    expect(resolveOptions({ connect: CONNECT, sessionTimeoutMs: 2 ** 31 - 1 }).sessionTimeoutMs).toBe(2 ** 31 - 1);
  });

  describe('where NODE_ENV is production', () => {
    const before = process.env['NODE_ENV'];
    beforeEach(() => void (process.env['NODE_ENV'] = 'production'));
    afterEach(() => void (process.env['NODE_ENV'] = before));

    it.each(['memory:', 'memory:shop/chroot', ' memory:'])('refuse %p, with the cure', (connect) => {
      const { message } = refusalOf({ connect });
      expect(message).toMatch(/^connect: .* its locks exclude nobody outside this process/);
      expect(message).toContain('memory: { allowInProduction: true }');
      expect(refusalOf({ connect, memory: { allowInProduction: false } }).message).toBe(message);
    });

    it('take it from who says that nobody is to be excluded', () => {
      expect(resolveOptions({ connect: 'memory:', memory: { allowInProduction: true } }).isInMemory).toBe(true);
    });

    it('mind neither servers, nor the stand-in for tests', () => {
      expect(resolveOptions({ connect: CONNECT }).isInMemory).toBe(false);
      expect(resolveTestingOptions({ connect: CONNECT }).isInMemory).toBe(true);
      expect(resolveTestingOptions({ connect: 'memory:', memory: { allowInProduction: false } }).isInMemory).toBe(true);
    });
  });

  it('are refused where they are none, with those that are', () => {
    const { message } = refusalOf({ connect: CONNECT, servers: [] });
    expect(message).toMatch(/^servers: is not an option \(the options are: connect, sessionTimeoutMs, /);
  });
});

describe('credentials', () => {
  const options = {
    connect: CONNECT,
    auth: { username: 'app', password: SECRET },
    tls: { key: lockedKey(), passphrase: SECRET },
  };

  it('are not in anything that is printed, logged or copied by its keys', () => {
    const resolved = resolveOptions(options);
    const printed = [
      JSON.stringify(resolved),
      inspect(resolved, { depth: 10 }),
      `${Object.keys(resolved).join()} ${Object.entries(resolved).flat(3).join()}`,
      JSON.stringify({ ...resolved }),
      JSON.stringify(structuredClone({ ...resolved })),
    ].join('\n');
    const encoded = Buffer.from(`app:${SECRET}`).toString('base64');
    for (const secret of [SECRET, encoded, 'PRIVATE KEY', 'passphrase', 'credential']) {
      expect(printed).not.toContain(secret);
    }
    // And yet they are there for who connects.
    expect([resolved.auth.length, resolved.tls]).toEqual([1, options.tls]);
  });

  it('are in no error', () => {
    const broken = [
      { ...options, auth: { username: 'a:b', password: SECRET } },
      { ...options, auth: `app:${SECRET}` },
      { ...options, auth: { username: SECRET } },
      { ...options, auth: { scheme: 'kerberos', password: SECRET } },
      { ...options, auth: { scheme: SECRET } },
      { ...options, auth: { scheme: 'kerberos', host: `${SECRET}@b` } },
      { ...options, tls: SECRET },
      { ...options, tls: { key: SECRET } },
      { ...options, tls: { ...options.tls, passphrase: [SECRET] } },
    ];
    for (const one of broken) expect(inspect(refusalOf(one), { depth: 10 })).not.toContain(SECRET);
  });
});
