import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { LockConfigurationError } from '../../../lib/lock/errors.js';
import { parseConnectString } from '../../../lib/session/connect-string.js';

function hosts(connect: string): string[] {
  const target = parseConnectString(connect);
  if (target.kind !== 'ensemble') throw new Error(`an ensemble was expected, not ${target.kind}`);
  return target.servers.map(({ host, port }) => `${host} ${port}`);
}

describe('A connect string that names an ensemble', () => {
  it('has servers, of which those without a port listen on 2181', () => {
    expect(hosts('zk1:2182,zk2,10.0.0.3:2183')).toEqual(['zk1 2182', 'zk2 2181', '10.0.0.3 2183']);
  });

  it('may have spaces around the commas', () => {
    expect(hosts(' zk1:2182 , zk2 ')).toEqual(['zk1 2182', 'zk2 2181']);
  });

  it.each(['zk1/app ', ' zk1/app', 'zk1:2181/app\n'])('is read without the blanks around it: %j', (connect) => {
    expect(parseConnectString(connect)).toMatchObject({ kind: 'ensemble', chroot: '/app' });
    expect(hosts(connect)).toEqual(['zk1 2181']);
  });

  it('has IPv6 addresses in brackets', () => {
    expect(hosts('[::1]:2182,[fe80::2],[::ffff:10.0.0.1]:1')).toEqual([
      '::1 2182',
      'fe80::2 2181',
      '::ffff:10.0.0.1 1',
    ]);
  });

  it.each([
    ['zk1', ''],
    ['zk1/', ''],
    ['zk1:2181,zk2:2181/a/b', '/a/b'],
    ['[::1]:2181/ü', '/ü'],
  ])('has a chroot behind its servers, or none: of %s that is "%s"', (connect, chroot) => {
    expect(parseConnectString(connect)).toMatchObject({ kind: 'ensemble', chroot });
  });
});

describe('A connect string that names the ensemble in this process', () => {
  it.each([
    ['memory:', '', ''],
    ['memory:tests', 'tests', ''],
    ['memory:tests/a', 'tests', '/a'],
    [' memory: ', '', ''],
  ])('is read: %j', (connect, name, chroot) => {
    expect(parseConnectString(connect)).toEqual({ kind: 'memory', name, chroot });
  });
});

describe('Any other connect string', () => {
  it.each([
    '',
    ',',
    'zk1,',
    ':2181',
    'zk1:',
    'zk1:port',
    'zk1:0',
    'zk1:65536',
    'zk1:123456',
    'zk1:-1',
    'zk1 zk2',
    'zk1;zk2',
    'zk1:2181;zk2:2181',
    'memory:a,b',
    'memory:x,zk1:2181',
    'memory: x',
    '::1',
    '[::1',
    '[]:2181',
    'zookeeper://zk1:2181',
    'zk1/a/',
    'zk1//a',
    'zk1/a/../b',
    'zk1/\u0000',
    'zk1/🔒',
  ])('is a configuration error that quotes it: %j', (connect) => {
    expect(() => parseConnectString(connect)).toThrow(LockConfigurationError);
    expect(() => parseConnectString(connect)).toThrow(JSON.stringify(connect));
  });

  it('is told that its scheme is what is wrong, where it is a URL', () => {
    expect(() => parseConnectString('zookeeper://zk1:2181')).toThrow('connect: it is not a URL: leave the scheme out');
  });

  it.each([
    'user@zk1',
    'user:secret@zk1:2181',
    'user:secret@zk1:2181,zk2:2181/app',
    'zk1:2181,user:secret@zk2:2181',
    'user:sec/ret@zk1:2181',
    'user:sec,ret@zk1',
    'user:secret@',
    'zookeeper://user:secret@zk1:2181',
    'memory:a b@secret',
  ])('is refused for its credentials, of which not one character is shown: %j', (connect) => {
    expect(() => parseConnectString(connect)).toThrow(LockConfigurationError);
    expect(() => parseConnectString(connect)).toThrow('give them as the option auth: { username, password }');
    expect(() => parseConnectString(connect)).not.toThrow(/user:|sec|ret/);
  });

  it('may have an @ in its chroot', () => {
    expect(parseConnectString('zk1/app@1')).toMatchObject({ kind: 'ensemble', chroot: '/app@1' });
  });

  it.each(['zk1:2181/app,zk2:2181/app', 'zk1/app,zk2', 'zk1/a,b'])(
    'is refused for a server behind the chroot, which would stand for another ensemble: %j',
    (connect) => {
      expect(() => parseConnectString(connect)).toThrow(
        'connect: the chroot comes once, at the end, after all servers',
      );
      expect(() => parseConnectString(connect)).toThrow(JSON.stringify(connect));
    },
  );

  it('is read or refused, whatever the text is', () => {
    const text = fc.oneof(fc.string(), fc.stringMatching(/^[\w.:,[\]/ -]*$/));
    fc.assert(
      fc.property(text, (connect) => {
        try {
          const target = parseConnectString(connect);
          if (target.kind === 'ensemble') expect(target.servers.length).toBeGreaterThan(0);
        } catch (error) {
          expect(error).toBeInstanceOf(LockConfigurationError);
        }
      }),
    );
  });
});
