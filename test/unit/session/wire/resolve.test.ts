import { describe, expect, it } from '@jest/globals';
import { addressesWithoutAsking } from '../../../../lib/session/wire/name-resolver.js';

describe('addressesWithoutAsking', () => {
  it.each([
    ['10.0.0.1', ['10.0.0.1']],
    ['::1', ['::1']],
    ['[fe80::1]', ['fe80::1']],
    ['localhost', ['127.0.0.1', '::1']],
    ['LocalHost', ['127.0.0.1', '::1']],
    ['zk1', undefined],
  ])('knows without asking whether it has the addresses of %s', (host, addresses) => {
    expect(addressesWithoutAsking(host)).toEqual(addresses);
  });
});
