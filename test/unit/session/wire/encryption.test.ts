import { inspect } from 'node:util';
import { describe, expect, it } from '@jest/globals';
import { LockConfigurationError } from '../../../../lib/lock/errors.js';
import type { TlsSource } from '../../../../lib/session/tls-settings.js';
import { SocketDialer } from '../../../../lib/session/wire/socket-dialer.js';
import { HeldResolver } from '../../../support/sessions/held-resolver.js';
import { promisesSettled } from '../../support/manual-clock.js';
import { RecordingListener } from './recording-listener.js';

const SERVER = { host: 'zk1', port: 2281 };
const SECRET = 'correct horse battery staple';

async function dialled(tls: TlsSource) {
  const resolver = new HeldResolver();
  const listener = new RecordingListener();
  const dialer = new SocketDialer({ acl: [], resolver, tls });
  const link = dialer.dial(SERVER, listener);
  await promisesSettled();
  return { resolver, listener, link, dialer };
}

async function failureOf(tls: () => unknown): Promise<Error> {
  const { listener, resolver } = await dialled(tls as TlsSource);
  expect(resolver.asked).toEqual([]);
  const [cause, ...others] = listener.causes;
  if (cause === undefined || others.length > 0) throw new Error(`There were ${listener.causes.length} causes.`);
  return cause;
}

describe('A function that tells the settings of TLS', () => {
  it('is asked by each dial, in front of everything else', async () => {
    let asked = 0;
    const tls = (): object => {
      asked += 1;
      return {};
    };
    const { resolver, listener, dialer, link } = await dialled(tls);
    expect([asked, resolver.asked, link.stage]).toEqual([1, ['zk1'], 'resolving']);
    const another = dialer.dial(SERVER, listener);
    await promisesSettled();
    expect([asked, resolver.asked.length]).toEqual([2, 2]);
    link.destroy();
    another.destroy();
    expect(listener.causes).toEqual([]);
  });

  it.each<[string, () => unknown, string]>([
    [
      'throws',
      () => {
        throw new Error('no such file');
      },
      'tls: the function failed: no such file',
    ],
    ['rejects', () => Promise.reject(new Error('no such file')), 'tls: the function failed: no such file'],
    ['returns a path', () => ({ ca: '/tls/ca.pem' }), 'tls: what the function returned cannot be used: ca is not PEM'],
    ['misspells a setting', () => ({ cafile: '' }), 'cannot be used: cafile is not a setting (the settings are: ca'],
    ['returns half of a pair', () => ({ cert: '-----BEGIN' }), 'cannot be used: cert is of no use without its key'],
  ])('fails the attempt where it %s, which may do the next time', async (_, tls, text) => {
    const failure = await failureOf(tls);
    expect(failure.message).toContain(text);
    expect(failure).not.toBeInstanceOf(LockConfigurationError);
  });

  it.each<[string, () => unknown, string]>([
    ['nothing', () => undefined, 'undefined'],
    ['a promise of nothing', () => Promise.resolve(null), 'null'],
    ['a list', () => [SECRET], 'a list'],
    ['a text', () => SECRET, 'string'],
    ['what a file holds', () => Buffer.from(SECRET), 'bytes'],
    ['a function', () => () => ({}), 'function'],
  ])('is a mistake of the application where it returns %s', async (_, tls, found) => {
    const failure = await failureOf(tls);
    expect(failure).toBeInstanceOf(LockConfigurationError);
    expect((failure as LockConfigurationError).details).toBe(
      `tls: the function must return an object such as { ca, cert, key }, or a promise of one, not ${found}`,
    );
  });

  it('is waited for by nobody, once the dial is given up, where it never answers', async () => {
    let answer: (settings: object) => void = () => undefined;
    const { resolver, listener, link } = await dialled(() => new Promise((resolve) => (answer = resolve)));
    expect(link.stage).toBe('preparing');
    link.destroy();
    answer({});
    await promisesSettled();
    expect([link.stage, resolver.asked, listener.causes]).toEqual([undefined, [], []]);
  });

  it('leaves nothing of its answer in what can be printed', async () => {
    const { link, dialer } = await dialled(() => ({ passphrase: SECRET }));
    expect(inspect([link, dialer], { depth: 10, showHidden: true })).not.toContain(SECRET);
    link.destroy();
    const key = `-----BEGIN ${SECRET}`;
    expect(inspect(await failureOf(() => ({ key })), { depth: 10 })).not.toContain(SECRET);
  });
});
