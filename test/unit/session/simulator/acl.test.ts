import { createHash } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import { create, get, list, remove, set } from '../../../../lib/session/requests.js';
import { SimulatedWorld } from '../../../support/simulation/simulated-world.js';
import { RawClient } from './support/raw-client.js';

const NO_AUTH = -102;
const INVALID_ACL = -114;
const AUTH_FAILED = -115;
const READ = 1;
const ALL = 31;

const login = (credential: string, scheme = 'digest') =>
  ({ op: 'auth', scheme, credential: Buffer.from(credential) }) as const;
const digest = (credential: string) => `bob:${createHash('sha1').update(credential).digest('base64')}`;

async function given() {
  const world = new SimulatedWorld();
  return { bob: await RawClient.connect(world, 'bob'), eve: await RawClient.connect(world, 'eve') };
}

describe('access to simulated nodes', () => {
  it('is refused to those whom the list does not name, for each permission', async () => {
    const { bob, eve } = await given();
    await bob.control(login('bob:secret'));
    await bob.ask(create('/mine', 'persistent', undefined, [{ permissions: ALL, scheme: 'auth', id: '' }]));
    await bob.ask(create('/mine/child', 'persistent'));
    expect(await eve.errorOf(get('/mine'))).toBe(NO_AUTH);
    expect(await eve.errorOf(list('/mine'))).toBe(NO_AUTH);
    expect(await eve.errorOf(set('/mine', Buffer.from('x')))).toBe(NO_AUTH);
    expect(await eve.errorOf(create('/mine/theirs', 'ephemeral'))).toBe(NO_AUTH);
    expect(await eve.errorOf(remove('/mine/child'))).toBe(NO_AUTH);
    expect(await eve.errorOf(remove('/mine/nothing'))).toBe(NO_AUTH);
    expect(await eve.errorOf(login('bob:wrong'))).toBe(0);
    expect(await eve.errorOf(get('/mine'))).toBe(NO_AUTH);
    await eve.control(login('bob:secret'));
    expect(await eve.errorOf(get('/mine'))).toBe(0);
    expect(await bob.errorOf(remove('/mine/child'))).toBe(0);
  });

  it('takes digests in the form of ZooKeeper', async () => {
    const { bob, eve } = await given();
    const acl = [
      { permissions: ALL, scheme: 'digest', id: digest('bob:secret') },
      { permissions: READ, scheme: 'world', id: 'anyone' },
    ];
    await eve.ask(create('/theirs', 'persistent', undefined, acl));
    expect(await eve.errorOf(get('/theirs'))).toBe(0);
    expect(await eve.errorOf(set('/theirs', Buffer.from('x')))).toBe(NO_AUTH);
    await bob.control(login('bob:secret'));
    expect(await bob.errorOf(set('/theirs', Buffer.from('x')))).toBe(0);
  });

  it('cannot be given to nobody', async () => {
    const { bob } = await given();
    const nobody = [{ permissions: ALL, scheme: 'auth', id: '' }];
    expect(await bob.errorOf(create('/x', 'persistent', undefined, nobody))).toBe(INVALID_ACL);
    const unknown = [{ permissions: ALL, scheme: 'kerberos', id: 'x' }];
    expect(await bob.errorOf(create('/x', 'persistent', undefined, unknown))).toBe(INVALID_ACL);
  });

  it('costs the connection when the scheme is unknown', async () => {
    const { bob } = await given();
    expect(await bob.errorOf(login('x', 'kerberos'))).toBe(AUTH_FAILED);
    await bob.world.runUntil(() => bob.closed !== undefined, 100);
  });
});
