import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { connectionOf, connectionWords } from '../../../../lib/extras/cli/connection.js';
import { Flags } from '../../../../lib/extras/cli/flags.js';

describe('The connection of the command line', () => {
  let folder: string;
  let file: (name: string, text: string) => string;

  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'zk-lock-connection-'));
    file = (name, text) => {
      writeFileSync(join(folder, name), text);
      return join(folder, name);
    };
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  const connection = (given: Record<string, string | boolean>, environment: Record<string, string> = {}) =>
    connectionOf(new Flags({ connect: 'zk1', ...given }), environment);

  it('leaves what is not given to the defaults of the module', () => {
    expect(connection({})).toEqual({ connect: 'zk1' });
  });

  it('takes each option from the environment, where the command line does not have it', () => {
    const environment = {
      ZK_LOCK_CONNECT: 'zk2',
      ZK_LOCK_NAMESPACE: '/app',
      ZK_LOCK_SESSION_TIMEOUT: '20s',
      ZK_LOCK_SERVER_TICK: '500ms',
      ZK_LOCK_CONNECT_TIMEOUT: '1s',
      ZK_LOCK_WAIT: '2s',
      ZK_LOCK_TLS: '1',
      ZK_LOCK_ACL: 'creator',
    };
    expect(connectionOf(new Flags({ namespace: '/mine' }), environment)).toEqual({
      connect: 'zk2',
      namespace: '/mine',
      sessionTimeoutMs: 20_000,
      serverTickMs: 500,
      connectTimeoutMs: 1_000,
      waitMs: 2_000,
      acl: 'creator',
      tls: {},
    });
  });

  it('takes an empty variable for one that was taken away', () => {
    expect(connection({}, { ZK_LOCK_ACL: '', ZK_LOCK_WAIT: '', ZK_LOCK_AUTH_DIGEST: '' })).toEqual({ connect: 'zk1' });
  });

  it('reads a digest from a file or the environment, and the password may have colons', () => {
    const auth = { username: 'ada', password: 'a:b c' };
    expect(connection({ 'auth-digest-file': file('digest', 'ada:a:b c\n') }).auth).toEqual(auth);
    expect(connection({}, { ZK_LOCK_AUTH_DIGEST: 'ada:a:b c' }).auth).toEqual(auth);
  });

  it('reads the files of TLS, and any of them implies it', () => {
    const given = { 'tls-ca': file('ca', 'CA'), 'tls-cert': file('cert', 'CERT'), 'tls-key': file('key', 'KEY') };
    expect(connection({ ...given, 'tls-servername': 'zk' }, { ZK_LOCK_TLS_PASSPHRASE: 'secret' }).tls).toEqual({
      ca: 'CA',
      cert: 'CERT',
      key: 'KEY',
      servername: 'zk',
      passphrase: 'secret',
    });
  });

  it('reads a PKCS#12 file as it is', () => {
    const pfx = file('pfx', 'P12');
    expect(connection({ 'tls-pfx': pfx }).tls).toEqual({ pfx: Buffer.from('P12') });
    expect(connection({}, { ZK_LOCK_TLS_PFX: pfx, ZK_LOCK_TLS_PASSPHRASE: 'secret' }).tls).toMatchObject({
      passphrase: 'secret',
    });
  });

  it('knows Kerberos', () => {
    expect(connection({ kerberos: true }).auth).toEqual({ scheme: 'kerberos' });
    expect(connection({ 'kerberos-principal': 'app' }).auth).toEqual({ scheme: 'kerberos', principal: 'app' });
  });

  const repeated = (given: Record<string, string | boolean>, environment: Record<string, string> = {}) => {
    const flags = new Flags(given);
    return connectionWords(flags, connectionOf(flags, { ZK_LOCK_CONNECT: 'zk9', ...environment }));
  };

  it('is repeated in lines to paste as far as it stood on the command line', () => {
    expect(repeated({})).toEqual([]);
    expect(repeated({ json: true, reason: 'why' }, { ZK_LOCK_WAIT: '2s', ZK_LOCK_TLS: '1' })).toEqual([]);
    const given = { connect: 'zk1,zk2/app', 'tls-servername': '-zk', tls: true, wait: '3s', 'long-hold': '1s' };
    expect(repeated(given)).toEqual(['--connect', 'zk1,zk2/app', '--tls', '--tls-servername=-zk', '--wait', '3s']);
  });

  it('is repeated without the namespace, which the lines name, but for one that takes that of the environment away', () => {
    expect(repeated({ namespace: '/app' })).toEqual([]);
    expect(repeated({ namespace: '' }, { ZK_LOCK_NAMESPACE: '/app' })).toEqual(['--namespace', '']);
  });

  it('is repeated with the files of secrets, and never with what is in them', () => {
    const digest = file('digest', 'ada:secret');
    const given = { 'auth-digest-file': digest, 'tls-key': file('key', 'secret') };
    const words = repeated(given, { ZK_LOCK_TLS_PASSPHRASE: 'secret' });
    expect(words).toEqual(['--auth-digest-file', digest, '--tls-key', join(folder, 'key')]);
    expect(repeated({}, { ZK_LOCK_AUTH_DIGEST: 'ada:secret' })).toEqual([]);
  });

  it('is repeated with Kerberos from wherever that was asked for, as the line must name its package', () => {
    expect(repeated({}, { ZK_LOCK_KERBEROS: '1' })).toEqual(['--kerberos']);
    expect(repeated({ kerberos: true })).toEqual(['--kerberos']);
  });

  it.each<[string, Record<string, string | boolean>, Record<string, string>]>([
    ['Give --connect zk1:2181', { connect: '' }, {}],
    ['inside the process of an application', { connect: 'memory:' }, {}],
    ['--tls-ca: /nowhere cannot be read (ENOENT)', { 'tls-ca': '/nowhere' }, {}],
    ['must hold user:password', {}, { ZK_LOCK_AUTH_DIGEST: 'secret' }],
    ['must hold user:password, in one line', {}, { ZK_LOCK_AUTH_DIGEST: 'ada:secret\nbob:secret' }],
    ['the connection has one of them', { kerberos: true }, { ZK_LOCK_AUTH_DIGEST: 'ada:secret' }],
    ['ZK_LOCK_WAIT takes a time with its unit', {}, { ZK_LOCK_WAIT: '5' }],
    ['--acl takes one of creator, open', { acl: 'world' }, {}],
    ['ZK_LOCK_ACL takes one of creator, open', {}, { ZK_LOCK_ACL: 'world' }],
  ])('is refused, and shows no secret: %s', (text, given, environment) => {
    let message = '';
    try {
      connection(given, environment);
    } catch (error) {
      message = (error as Error).message;
    }
    expect(message).toContain(text);
    expect(message).not.toContain('secret');
  });
});
