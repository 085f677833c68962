import { describe, expect, it } from '@jest/globals';
import { check, create, exists, get, list, multi, remove, set } from '../../../../lib/session/requests.js';
import { SimulatedWorld } from '../../../support/simulation/simulated-world.js';
import { RawClient } from './support/raw-client.js';

const bytes = (text: string) => Buffer.from(text);

async function given(settings = {}) {
  const world = new SimulatedWorld(settings);
  return { world, client: await RawClient.connect(world, 'a') };
}

describe('the tree of a simulated server', () => {
  it('numbers children by the creates of their parent, whatever was removed', async () => {
    const { client } = await given();
    await client.ask(create('/q', 'persistent'));
    expect((await client.ask(create('/q/n-', 'ephemeral-sequential'))).path).toBe('/q/n-0000000000');
    expect((await client.ask(create('/q/plain', 'persistent'))).path).toBe('/q/plain');
    await client.ask(remove('/q/n-0000000000'));
    expect((await client.ask(create('/q/n-', 'persistent-sequential'))).path).toBe('/q/n-0000000002');
  });

  it('tells creates and deletes of children in cversion, and the newest in pzxid', async () => {
    const { client } = await given();
    await client.ask(create('/q', 'persistent'));
    const first = await client.ask(create('/q/a', 'persistent'));
    await client.ask(create('/q/b', 'persistent'));
    await client.ask(remove('/q/a'));
    const stat = await client.ask(exists('/q'));
    expect(stat).toMatchObject({ cversion: 3, numChildren: 1, version: 0 });
    expect(stat?.pzxid).toBe(first.stat.czxid + 2n);
    expect((await client.ask(exists('/')))?.cversion).toBe(0);
  });

  it('sticks at the highest sequence number', async () => {
    const { world, client } = await given();
    await client.ask(create('/q', 'persistent'));
    world.faults.jumpSequence('/q', 2_147_483_646);
    const paths = [];
    for (const prefix of ['a-', 'b-', 'c-'])
      paths.push((await client.ask(create(`/q/${prefix}`, 'ephemeral-sequential'))).path);
    expect(paths).toEqual(['/q/a-2147483646', '/q/b-2147483647', '/q/c-2147483647']);
  });

  it('writes a negative sequence number as Java does', async () => {
    const { world, client } = await given();
    await client.ask(create('/q', 'persistent'));
    world.faults.jumpSequence('/q', -5);
    expect((await client.ask(create('/q/n-', 'ephemeral-sequential'))).path).toBe('/q/n--000000005');
  });

  it('gives an ephemeral to its session, and no children', async () => {
    const { client } = await given();
    const { stat } = await client.ask(create('/e', 'ephemeral', bytes('x')));
    expect(stat).toMatchObject({ ephemeralOwner: client.sessionId, dataLength: 1 });
    expect(await client.errorOf(create('/e/child', 'persistent'))).toBe(-108);
  });

  it('counts versions and refuses the wrong one', async () => {
    const { client } = await given();
    await client.ask(create('/v', 'persistent', bytes('0')));
    const { version, mzxid, czxid } = await client.ask(set('/v', bytes('1'), 0));
    expect({ version, later: mzxid > czxid }).toEqual({ version: 1, later: true });
    expect(await client.errorOf(set('/v', bytes('2'), 0))).toBe(-103);
    expect(await client.errorOf(remove('/v', 0))).toBe(-103);
    const { data } = await client.ask(get('/v'));
    expect(Buffer.from(data).toString()).toBe('1');
  });

  it.each([
    ['a missing parent', create('/no/child', 'persistent'), -101],
    ['a node that is there', create('/zookeeper', 'persistent'), -110],
    ['an empty segment', create('/a//b', 'persistent'), -101],
    ['a dot segment', create('/..', 'persistent'), -8],
    ['a character beyond the BMP', create('/😀', 'persistent'), -8],
    ['removing the root', remove('/'), -8],
    ['removing nothing', remove('/nothing'), -101],
    ['removing a parent', remove('/parent'), -111],
    ['writing nothing', set('/nothing', bytes('')), -101],
    ['an empty ACL', create('/acl', 'persistent', undefined, []), -114],
  ])('refuses %s with the number of ZooKeeper', async (_what, request, errorNumber) => {
    const { client } = await given();
    await client.ask(create('/parent', 'persistent'));
    await client.ask(create('/parent/child', 'persistent'));
    expect(await client.errorOf(request)).toBe(errorNumber);
  });

  it('carries out all parts of a multi in one transaction, each on top of those before it', async () => {
    const { client } = await given();
    const [first, second, , changed] = await client.ask(
      multi([
        create('/m', 'container'),
        create('/m/n-', 'ephemeral-sequential'),
        check('/m', 0),
        set('/m', bytes('x')),
      ]),
    );
    expect(second).toMatchObject({ op: 'create', path: '/m/n-0000000000' });
    const zxids = [first, second].map((part) => (part?.op === 'create' ? part.stat.czxid : 0n));
    expect(zxids[0]).toBe(zxids[1]);
    expect(changed).toMatchObject({ op: 'set', stat: { version: 1, mzxid: zxids[0], numChildren: 1 } });
  });

  it('undoes a multi of which one part is refused, and says which', async () => {
    const { world, client } = await given();
    await client.ask(create('/m', 'persistent', bytes('old')));
    await client.ask(create('/m/gone', 'persistent'));
    const before = world.stat('/m');
    const refused = client.ask(
      multi([
        create('/m/x', 'ephemeral'),
        set('/m', bytes('new')),
        remove('/m/gone'),
        check('/m', 7),
        create('/m/y', 'persistent'),
      ]),
    );
    await expect(refused).rejects.toMatchObject({ code: 'BAD_VERSION', path: '/m' });
    expect(world.stat('/m')).toEqual(before);
    expect(world.children('/m')).toEqual(['gone']);
    // What the leader plans with was put back as well: the same numbers come again.
    expect((await client.ask(create('/m/n-', 'persistent-sequential'))).path).toBe('/m/n-0000000001');
    expect((await client.ask(set('/m', bytes('newer'), 0))).version).toBe(1);
    expect(await client.errorOf(remove('/m/gone'))).toBe(0);
  });

  it('reaps a container once it has had a child and has none', async () => {
    const { world, client } = await given();
    await client.ask(create('/c', 'container'));
    await client.ask(create('/d', 'container'));
    expect(world.stat('/c')?.ephemeralOwner).toBe(0n);
    await client.ask(create('/c/child', 'persistent'));
    world.faults.reapContainers();
    expect(world.children('/')).toEqual(['zookeeper', 'c', 'd']);
    await client.ask(remove('/c/child'));
    world.faults.reapContainers();
    expect(world.children('/')).toEqual(['zookeeper', 'd']);
  });

  it('reaps by itself every minute', async () => {
    const { world, client } = await given();
    await client.ask(create('/c', 'container'));
    await client.ask(create('/c/child', 'persistent'));
    await client.ask(remove('/c/child'));
    await world.runUntil(() => world.stat('/c') === undefined, 61_000);
    expect(world.now()).toBeGreaterThanOrEqual(60_000);
  });

  it('takes a transaction for a refused write, too', async () => {
    const { client } = await given();
    const first = await client.ask(create('/a', 'persistent'));
    await client.errorOf(create('/a', 'persistent'));
    expect((await client.ask(create('/b', 'persistent'))).stat.czxid).toBe(first.stat.czxid + 2n);
  });

  it('lists children with the stat of their parent', async () => {
    const { client } = await given();
    await client.ask(create('/q', 'persistent'));
    await client.ask(create('/q/a', 'persistent'));
    expect(await client.ask(list('/q'))).toMatchObject({ children: ['a'], stat: { numChildren: 1 } });
  });

  it('shares no bytes with those who write and read', async () => {
    const { client } = await given();
    const mine = bytes('before');
    const created = client.send(create('/data', 'persistent', mine));
    mine.write('AFTER!');
    await client.world.settle(created);
    const { data } = await client.ask(get('/data'));
    data.fill(0);
    expect(Buffer.from((await client.ask(get('/data'))).data).toString()).toBe('before');
  });
});
