import { createHash } from 'node:crypto';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { FencedZnodes } from '../../../lib/fencing/index.js';
import { LockConfigurationError, LockLostError } from '../../../lib/lock/errors.js';
import type { LockHandle } from '../../../lib/lock/handle.js';
import { type ClosableLockService, createLockService, openSession, whenUp } from '../../../lib/open.js';
import type { DigestAuth, DistributedLockOptions } from '../../../lib/options.js';
import { releaseMark } from '../../../lib/queue/node-name.js';
import { resolveOptions } from '../../../lib/resolve-options.js';
import type { SessionClient } from '../../../lib/session/core/session-client.js';
import { SessionError } from '../../../lib/session/errors.js';
import { create, exists, get, list, multi, remove, type Request, set } from '../../../lib/session/requests.js';
import { TICK_MS } from '../../support/locks/times.js';
import { outcomeOf } from '../../support/locks/witness.js';
import { eventually } from '../../support/process/eventually.js';
import { replyTo } from '../../support/sessions/reply-to.js';
import { closedAfterwards, closeOpenSessions } from '../../support/sessions/wire-session.js';
import { type Certificates, createCertificates } from '../../support/zookeeper/certificates.js';
import { startZooKeeper, type StandaloneServer } from '../../support/zookeeper/start-zookeeper.js';
import { type RawClient, rawConnection, rawSession } from '../support/raw-client.js';

const BLUE = { username: 'blue', password: 'sky' };
const RED = { username: 'red', password: 'rose' };
const SUPER = { username: 'super', password: 'user' };
const NAMESPACE = '/tenants/blue';
const KEY = '/locks/orders/42';

type Identity = Pick<DistributedLockOptions, 'tls' | 'acl'> & { readonly auth?: DigestAuth };

/** Two tenants as the servers tell them apart, at one port. */
interface Tenants {
  readonly connect: string;
  readonly blue: Identity;
  readonly red: Identity;
}

let server: StandaloneServer;
let certificates: Certificates;
const services: ClosableLockService[] = [];

beforeAll(async () => {
  certificates = await createCertificates();
  server = await startZooKeeper({
    tickTimeMs: TICK_MS,
    tls: { certificates, clientAuth: 'need' },
    superPassword: SUPER.password,
  });
}, 60_000);
afterEach(async () => {
  await Promise.all(services.splice(0).map((service) => service.close(0)));
  await closeOpenSessions();
});
afterAll(async () => {
  await server.stop();
  await certificates.remove();
});

/** The number of the servers' refusal. */
const NO_AUTH = -102;

const TIMES = { sessionTimeoutMs: 6_000, serverTickMs: TICK_MS };

async function open(connect: string, identity: Identity, options: object = {}): Promise<ClosableLockService> {
  const service = await createLockService({ connect, namespace: NAMESPACE, ...TIMES, ...identity, ...options });
  services.push(service);
  return service;
}

async function openBare(connect: string, identity: Identity): Promise<SessionClient> {
  const session = closedAfterwards(openSession(resolveOptions({ connect, ...TIMES, ...identity })));
  await whenUp(session, 10_000);
  return session;
}

const byPassword = (): Tenants => ({
  connect: `${server.connect}/passwords`,
  blue: { auth: BLUE },
  red: { auth: RED },
});

function byCertificate(): Tenants {
  const { ca, client, otherClient } = certificates;
  return {
    connect: `127.0.0.1:${server.securePort}/certificates`,
    blue: { acl: 'creator', tls: { ca, cert: client.cert, key: client.key } },
    red: { acl: 'creator', tls: { ca, cert: otherClient.cert, key: otherClient.key } },
  };
}

function digestOf({ username, password }: typeof BLUE): string {
  return `${username}:${createHash('sha1').update(`${username}:${password}`).digest('base64')}`;
}

async function below(session: SessionClient, path: string): Promise<string[]> {
  const { children } = await replyTo(session, list(path));
  const paths = await Promise.all(children.map((name) => below(session, `${path}/${name}`)));
  return [path, ...paths.flat()];
}

/** What the servers say to each request. */
async function answers(session: SessionClient, requests: readonly Request[]): Promise<string[]> {
  const outcomes: readonly unknown[] = await session.batch(requests);
  return outcomes.map((outcome) => (outcome instanceof SessionError ? outcome.code : 'answered'));
}

describe.each([
  ['a password', byPassword],
  ['the certificate of a client', byCertificate],
])("With acl: 'creator', which rests on %s, another tenant", (_, tenantsOf) => {
  let tenants: Tenants;
  let lock: LockHandle;
  let thief: SessionClient;
  let sessionPath: string;

  async function scene(options: object = {}): Promise<ClosableLockService> {
    tenants = tenantsOf();
    // The operator's part: the nodes above a tenant's own belong to nobody.
    const operator = await openBare(tenants.connect, { ...tenants.red, acl: 'open' });
    await operator.batch([create('/tenants', 'persistent')]);
    const service = await open(tenants.connect, tenants.blue, options);
    lock = await service.acquire(KEY, { label: 'private' });
    sessionPath = `${NAMESPACE}/.sessions/${service.sessionId}`;
    thief = await openBare(tenants.connect, tenants.red);
    return service;
  }

  /** A holder's session writes to a node of its own, once the create of its lock is a quarter of S old. */
  async function untilSessionHasItsNode(): Promise<void> {
    const owner = await openBare(tenants.connect, tenants.blue);
    const isThere = async (): Promise<boolean> => (await replyTo(owner, exists(sessionPath))) !== undefined;
    await eventually('the session has its node', isThere);
  }

  const clientsCalls: [string, (red: ClosableLockService) => Promise<unknown>][] = [
    ['acquire', (red) => red.acquire(KEY)],
    ['tryAcquire', (red) => red.tryAcquire(KEY)],
    ['withLock', (red) => red.withLock(KEY, () => 'inside')],
    ['acquireAll', (red) => red.acquireAll([KEY])],
    ['inspect', (red) => red.inspect(KEY)],
    ['acquire of a key that nobody has used', (red) => red.acquire('/locks/orders/43')],
  ];

  it.each(clientsCalls)('cannot join or look, and is told which key and what to do: %s', async (_call, call) => {
    await scene();
    const red = await open(tenants.connect, tenants.red);
    const refused = await outcomeOf(call(red));
    expect(refused).toBeInstanceOf(LockConfigurationError);
    const { details, message } = refused as LockConfigurationError;
    expect(details).toMatch(/ZooKeeper denies access to the queue of \/locks\/orders\/4[23]: /);
    expect(details).toContain('Use theirs (auth, or the certificate in tls), or a namespace of your own');
    expect(message).not.toContain('/locks');
    expect(lock.isHeld()).toBe(true);
    await lock.release();
  });

  it('can neither read, delete nor change a node, nor put one in front', async () => {
    await scene();
    await untilSessionHasItsNode();
    const key = `${NAMESPACE}${KEY}`;
    const place = lock.nodePath;
    const forbidden: readonly Request[] = [
      get(place),
      list(key),
      list(`${NAMESPACE}/.sessions`),
      get(key),
      get(NAMESPACE),
      remove(place),
      remove(sessionPath),
      set(place, Buffer.from('stolen')),
      set(key, Buffer.from('stolen')),
      set(sessionPath, Buffer.from('stolen')),
      create(`${key}/_c_thief-lock-0000000000`, 'ephemeral'),
      create(`${key}/_c_thief-lock-`, 'ephemeral-sequential'),
      create(`${NAMESPACE}/.sessions/thief`, 'ephemeral'),
      create(`${NAMESPACE}/locks/thief`, 'container'),
    ];
    expect(await answers(thief, forbidden)).toEqual(forbidden.map(() => 'NO_AUTH'));
    expect(lock.isHeld()).toBe(true);
    await lock.release();
  });

  it('cannot touch the record of a key, nor data under a lock', async () => {
    const service = await scene({ lockDelayMs: 1 });
    const znodes = new FencedZnodes({ locks: service, root: '/data' });
    await znodes.write('/prices', 'blue', lock);
    const record = `${NAMESPACE}${KEY}`;
    const data = `${NAMESPACE}/data/prices`;
    const forbidden: readonly Request[] = [
      get(record),
      set(record, Buffer.from('{}')),
      get(data),
      set(data, Buffer.from('')),
    ];
    expect(await answers(thief, [...forbidden, remove(data)])).toEqual([...forbidden, 'remove'].map(() => 'NO_AUTH'));
    const ticket = { key: lock.key, nodePath: lock.nodePath, fencingToken: String(lock.fencingToken) };
    const red = new FencedZnodes({ locks: await open(tenants.connect, tenants.red), root: '/data' });
    for (const call of [red.read('/prices'), red.write('/prices', 'red', ticket)]) {
      await expect(call).rejects.toThrow(LockConfigurationError);
    }
    await znodes.remove('/prices', lock);
    await lock.release();
  });

  it('learns from the stat of a node whose it is only from older servers', async () => {
    const service = await scene();
    const [found] = await thief.batch([exists(lock.nodePath)]);
    // From 3.8.4 and 3.9.2 on, ZooKeeper asks the ACL for this, too.
    if (found instanceof SessionError) expect(found.code).toBe('NO_AUTH');
    else expect(`0x${found?.ephemeralOwner.toString(16)}`).toBe(service.sessionId);
    await lock.release();
  });

  it('finds no node of the namespace open, and can open none', async () => {
    const service = await scene({ lockDelayMs: 1 });
    await new FencedZnodes({ locks: service, root: '/data' }).write('/prices', 'blue', lock);
    await untilSessionHasItsNode();
    const { auth, tls } = tenants.blue;
    const owner = auth === undefined ? `31:x509:${certificates.client.x509Id}` : `31:digest:${digestOf(auth)}`;
    const chroot = tls === undefined ? '/passwords' : '/certificates';
    const paths = await below(await openBare(`${server.connect}${chroot}`, { auth: SUPER }), NAMESPACE);
    expect(paths).toEqual(expect.arrayContaining([NAMESPACE, `${NAMESPACE}${KEY}`, lock.nodePath, sessionPath]));
    expect(paths).toContain(`${NAMESPACE}/data/prices`);
    const [root, stranger] = [await rawSession(server.port), await rawSession(server.port)];
    await root.authenticate('digest', `${SUPER.username}:${SUPER.password}`);
    await stranger.authenticate('digest', `${RED.username}:${RED.password}`);
    for (const path of paths) {
      expect([path, await root.acl(`${chroot}${path}`)]).toEqual([path, [owner]]);
      expect([path, (await stranger.setAcl(`${chroot}${path}`)).errorCode]).toEqual([path, NO_AUTH]);
    }
    for (const client of [root, stranger]) client.destroy();
    await lock.release();
  });

  it("does not keep the owner's next process out", async () => {
    await scene();
    const next = await open(tenants.connect, tenants.blue);
    expect(await next.tryAcquire(KEY)).toBeUndefined();
    const waiting = next.acquire(KEY);
    await lock.release();
    await (await waiting).release();
  });
});

describe('Tenants that have something in common', () => {
  it.each([
    ['the chroot', (tenant: string) => ({ connect: `${server.connect}/shared-1/${tenant}`, namespace: '' })],
    ['the namespace', (tenant: string) => ({ connect: server.connect, namespace: `/shared-2/${tenant}` })],
  ])('are refused below what the first one made, with what to do: nodes above %s', async (_, at) => {
    const { connect, namespace } = at('blue');
    const first = await open(connect, { auth: BLUE }, { namespace });
    await (await first.acquire('/locks/a')).release();
    const second = at('red');
    const refused = await outcomeOf(
      open(second.connect, { auth: RED }, { namespace: second.namespace }).then((red) => red.acquire('/locks/a')),
    );
    expect(refused).toBeInstanceOf(LockConfigurationError);
    expect((refused as LockConfigurationError).details).toMatch(/Create it with its parents|a namespace of your own/);
  });

  it.each([
    ['the chroot', (place: string) => ({ connect: `${server.connect}${place}`, namespace: '' })],
    ['the namespace', (place: string) => ({ connect: server.connect, namespace: place })],
  ])('have what an operator has made for them, and nothing beside it: %s', async (what, at) => {
    const shared = what === 'the chroot' ? '/operated-1' : '/operated-2';
    const operator = await openBare(server.connect, { auth: SUPER });
    const onlyOperator = [{ permissions: 31, scheme: 'digest', id: digestOf(SUPER) }];
    const blues = [{ permissions: 31, scheme: 'digest', id: digestOf(BLUE) }];
    await replyTo(operator, create(shared, 'persistent', undefined, onlyOperator));
    await replyTo(operator, create(`${shared}/blue`, 'persistent', undefined, blues));

    // Nobody else may even read what is above.
    const root = await rawSession(server.port);
    await root.authenticate('digest', `${SUPER.username}:${SUPER.password}`);
    await root.setAcl('/', digestOf(SUPER));
    const { connect, namespace } = at(`${shared}/blue`);
    const blue = await open(connect, { auth: BLUE }, { namespace });
    const held = await blue.acquire(KEY);
    await held.whenSure();
    expect(await blue.inspect(KEY)).toMatchObject({ state: 'HELD' });
    await held.release();
    const reds = at(`${shared}/blue`);
    const refused = await outcomeOf(
      open(reds.connect, { auth: RED }, { namespace: reds.namespace }).then((red) => red.acquire(KEY)),
    );
    expect(refused).toBeInstanceOf(LockConfigurationError);
    expect((refused as LockConfigurationError).details).toContain('ZooKeeper denies access to');
    await root.setAcl('/');
    root.destroy();
  });

  it('may queue together where a list names them both', async () => {
    const acl = [BLUE, RED].map((auth) => ({ permissions: 15, scheme: 'digest', id: digestOf(auth) }));
    const connect = `${server.connect}/together`;
    await openBare(connect, { auth: BLUE, acl });
    const [blue, red] = await Promise.all([BLUE, RED].map((auth) => open(connect, { auth, acl }, { namespace: '' })));
    const lock = await blue!.acquire(KEY);
    const waiting = red!.acquire(KEY);
    expect(await red!.tryAcquire(KEY)).toBeUndefined();
    const compromised = await rawSession(server.port);
    await compromised.authenticate('digest', `${RED.username}:${RED.password}`);
    expect((await compromised.setAcl(`/together${KEY}`)).errorCode).toBe(NO_AUTH);
    compromised.destroy();
    await lock.release();
    await (await waiting).release();
  });

  it('open their nodes to either proof where they have given two', async () => {
    const { ca, client } = certificates;
    const tls = { ca, cert: client.cert, key: client.key };
    const connect = `127.0.0.1:${server.securePort}/twice`;
    const both = await open(connect, { auth: BLUE, tls }, { namespace: '' });
    const lock = await both.acquire(KEY);
    const password = await openBare(`${server.connect}/twice`, { auth: BLUE });
    const certificate = await openBare(connect, { tls });
    for (const session of [password, certificate])
      expect(await answers(session, [get(lock.nodePath)])).toEqual(['answered']);
    const neither = await openBare(server.connect, { auth: RED });
    expect(await answers(neither, [get(`/twice${lock.nodePath}`)])).toEqual(['NO_AUTH']);
    await lock.release();
  });
});

describe('What no ACL stops:', () => {
  it('whoever reaches the servers and knows the id of a session can end it; its locks are lost, and their tokens are old', async () => {
    const connect = `${server.connect}/passwords`;
    const owner = await open(connect, { auth: BLUE });
    const next = await open(connect, { auth: BLUE });
    const lock = await owner.acquire('/locks/ended');
    const waiting = next.acquire('/locks/ended');
    const told = new Promise<unknown>((resolve) =>
      lock.signal.addEventListener('abort', () => resolve(lock.signal.reason)),
    );

    const thief = await takenOver(BigInt(owner.sessionId ?? 0));
    await thief.request('closeSession');

    const following = await waiting;
    expect(following.fencingToken).toBeGreaterThan(lock.fencingToken);
    expect(await told).toBeInstanceOf(LockLostError);
    expect(lock.isHeld()).toBe(false);
    thief.destroy();
    await following.release();
  });

  it('whoever has the credentials of a namespace can make two hold, by forging what a holder says at its release', async () => {
    const connect = `${server.connect}/forged`;
    const [first, second, third] = await Promise.all(
      [1, 2, 3].map(() => open(connect, { auth: BLUE }, { namespace: '' })),
    );
    const held = await first!.acquire(KEY);
    const thief = await openBare(connect, { auth: BLUE });
    const contenders = (count: number): Promise<string[]> =>
      eventually<string[] | undefined>(`${count} contenders`, async () => {
        const { children } = await replyTo(thief, list(KEY));
        const inOrder = [...children].sort((one, other) => one.slice(-10).localeCompare(other.slice(-10)));
        return children.length === count ? inOrder : undefined;
      });
    const passedOver = outcomeOf(second!.acquire(KEY, { waitMs: 2_000 }));
    await contenders(2);
    const waiting = third!.acquire(KEY);
    const [, ahead] = await contenders(3);
    // Its watches are set in the round trip behind its create.
    await eventually('it is watched', async () => (await server.watchesByPath()).has(`/forged${KEY}/${ahead}`));

    const mark = `${KEY}/${releaseMark(ahead!)}`;
    await replyTo(thief, multi([create(mark, 'persistent'), remove(mark), remove(`${KEY}/${ahead}`)]));
    const forged = await waiting;
    expect([held.isHeld(), forged.isHeld()]).toEqual([true, true]);
    expect(forged.fencingToken).toBeGreaterThan(held.fencingToken);
    await Promise.all([held.release(), forged.release()]);
    await passedOver;
  });

  it('ids of sessions are consecutive, and so can be guessed', async () => {
    const [one, next] = [await rawSession(server.port), await rawSession(server.port)];
    expect(next.sessionId).toBe(one.sessionId + 1n);
    for (const client of [one, next]) client.destroy();
  });

  it('a wrong password only costs a reconnect', async () => {
    const owner = await open(`${server.connect}/passwords`, { auth: BLUE });
    const lock = await owner.acquire('/locks/kept');
    const sessionId = BigInt(owner.sessionId ?? 0);
    const thief = rawConnection(server.port);
    await thief.handshake(5_000, { sessionId, password: Buffer.alloc(16) });
    expect(thief.timeoutMs).toBe(0);
    thief.destroy();
    await lock.whenSure();
    expect([lock.isHeld(), BigInt(owner.sessionId ?? 0)]).toEqual([true, sessionId]);
    await lock.release();
  });

  it('a node that is there already keeps its ACL: below an open one everybody may remove a contender', async () => {
    const connect = `${server.connect}/squatted`;
    const thief = await openBare(connect, { auth: RED, acl: 'open' });
    await thief.batch([create('/key', 'persistent')]);
    const owner = await open(connect, { auth: BLUE }, { namespace: '' });
    const lock = await owner.acquire('/key');
    expect(await answers(thief, [get(lock.nodePath), remove(lock.nodePath)])).toEqual(['NO_AUTH', 'answered']);
    await eventually('the loss is told', () => !lock.isHeld(), { withinMs: 2_000 });
    expect(lock.signal.reason).toBeInstanceOf(LockLostError);
  });
});

/** A connection that has taken a session over. ZooKeeper makes the password of a session of nothing but its id. */
function takenOver(sessionId: bigint): Promise<RawClient> {
  return rawConnection(server.port).handshake(5_000, { sessionId, password: passwordOf(sessionId) });
}

/** What `java.util.Random` gives for the seed that `ZooKeeperServer.generatePasswd` takes. */
function passwordOf(sessionId: bigint): Buffer {
  const password = Buffer.alloc(16);
  let state = (sessionId ^ 0xb3415c00n ^ 0x5deece66dn) & 0xffff_ffff_ffffn;
  for (let at = 0; at < password.length; at += 4) {
    state = (state * 0x5deece66dn + 0xbn) & 0xffff_ffff_ffffn;
    password.writeUInt32LE(Number((state >> 16n) & 0xffff_ffffn), at);
  }
  return password;
}
