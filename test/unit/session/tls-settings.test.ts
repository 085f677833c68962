import { generateKeyPairSync } from 'node:crypto';
import { rootCertificates } from 'node:tls';
import { describe, expect, it } from '@jest/globals';
import { mistakeInTls } from '../../../lib/session/tls-settings.js';

const SECRET = 'correct horse battery staple';
const [authority = '', stranger = ''] = rootCertificates;

function newKey(passphrase?: string): string {
  const encoding = passphrase === undefined ? {} : { cipher: 'aes-256-cbc', passphrase };
  const { privateKey } = generateKeyPairSync('ec', {
    namedCurve: 'P-256',
    publicKeyEncoding: { type: 'spki', format: 'pem' },
    privateKeyEncoding: { type: 'pkcs8', format: 'pem', ...encoding },
  });
  return privateKey;
}

describe('TLS settings that can work', () => {
  const key = newKey();
  const locked = newKey(SECRET);

  it.each<[string, object]>([
    ['none', {}],
    ['an authority', { ca: authority }],
    ['authorities, as text and as bytes', { ca: [authority, Buffer.from(`# mine\n${stranger}`)] }],
    ['a key', { key }],
    ['a key behind a passphrase', { key: locked, passphrase: SECRET }],
    ['a key with a passphrase of its own', { key: [{ pem: locked, passphrase: SECRET }] }],
    ['a name and a version', { servername: 'zk1', minVersion: 'TLSv1.3' }],
    ['checks of its own', { rejectUnauthorized: false, checkServerIdentity: () => undefined }],
    ['a function, which is asked later', () => ({ ca: '/not/asked/yet' })],
    ['what the environment does not have', { ca: undefined, passphrase: undefined }],
  ])('are taken: %s', (_, settings) => {
    expect(mistakeInTls(settings)).toBeUndefined();
  });
});

describe('TLS settings that cannot work', () => {
  // Of the kind that the certificate has.
  const otherKey = generateKeyPairSync('rsa', { modulusLength: 2_048 }).privateKey.export({
    type: 'pkcs8',
    format: 'pem',
  });
  const broken = authority.replaceAll('\n', '\\n');

  it.each<[string, unknown, string]>([
    ['no object', 'zk1', 'must be an object'],
    ['nothing', null, 'must be an object'],
    ['a list', [authority], 'must be an object'],
    [
      'a setting that is none',
      { cafile: '/etc/ssl/ca.pem' },
      'cafile is not a setting (the settings are: ca, cert, key, ',
    ],
    ['a setting of every object', { constructor: 1 }, 'constructor is not a setting'],
    ['a path', { ca: '/etc/ssl/ca.pem' }, 'ca is not PEM, it has no -----BEGIN: is it a path?'],
    ['a path among texts', { ca: [authority, '/etc/ssl/ca.pem'] }, 'ca is not PEM'],
    ['nothing but a name', { ca: '' }, 'ca is not PEM'],
    ['DER', { cert: Buffer.from([0x30, 0x82]), key: newKey() }, 'cert is not PEM, it has no -----BEGIN: is it DER?'],
    ['a number', { key: 42 }, 'key must be PEM, a string or a Buffer'],
    ['a choice of ciphers that is none', { ciphers: ['HIGH'] }, 'ciphers must be a string'],
    ['an authority whose line breaks were lost', { ca: broken }, 'ca cannot be read: no start line'],
    ['a certificate that is cut off', { cert: authority.slice(0, 400), key: newKey() }, 'cannot work: '],
    ['a certificate without a key', { cert: authority }, 'cert is of no use without its key'],
    ['a key that is not of the certificate', { cert: authority, key: otherKey }, 'cannot work: key values mismatch'],
    ['a passphrase that does not fit', { key: newKey(SECRET), passphrase: 'another' }, 'cannot work: bad decrypt'],
    ['bytes that are no pfx', { pfx: 'abc' }, 'cannot work: not enough data'],
    ['a version that there is not', { minVersion: 'TLSv9' }, 'cannot work: "TLSv9" is not a valid'],
    ['a passphrase that is no text', { passphrase: 42 }, 'passphrase must be a string'],
    ['no by its name', { rejectUnauthorized: 'false' }, 'rejectUnauthorized must be a boolean'],
    [
      'settings that are still to come',
      Promise.resolve({}),
      'must not be a promise: await it first, or give the function',
    ],
    ['what a file holds', Buffer.from(authority), 'must be an object such as { ca, cert, key }'],
    ['a check that is nothing', { checkServerIdentity: undefined }, 'checkServerIdentity must be a function, or not'],
    ['a check that is null', { checkServerIdentity: null }, 'checkServerIdentity must be a function, or not'],
    ['a check that is none', { checkServerIdentity: true }, 'checkServerIdentity must be a function'],
  ])('are told of before a server is asked: %s', (_, settings, mistake) => {
    expect(mistakeInTls(settings)).toContain(mistake);
    expect(mistakeInTls(settings)).not.toMatch(/\n|error:/);
  });

  it('are not those that node:tls takes for nothing, or knows besides', () => {
    expect(mistakeInTls({ ca: null, cert: null, key: null, passphrase: null })).toBeUndefined();
    expect(mistakeInTls({ ciphers: 'HIGH', maxVersion: 'TLSv1.3' })).toBeUndefined();
  });

  it('are told of without what they hold', () => {
    const secrets = [
      SECRET,
      { ca: SECRET },
      { key: SECRET },
      { key: `-----BEGIN ${SECRET}` },
      { key: [{ pem: newKey(SECRET), passphrase: 17_042 }] },
      { passphrase: [SECRET] },
      { pfx: SECRET, passphrase: SECRET },
    ];
    for (const settings of secrets) expect(mistakeInTls(settings)).not.toMatch(/correct|17042/);
  });
});
