import { describe, expect, it } from '@jest/globals';
import { create, exists, get, list, remove, set, sync } from '../../../../lib/session/requests.js';
import { SimulatedWorld } from '../../../support/simulation/simulated-world.js';
import { RawClient, WATCH } from './support/raw-client.js';

const NO_NODE = -101;
const NO_WATCHER = -121;

async function given() {
  const world = new SimulatedWorld();
  const watcher = await RawClient.connect(world, 'watcher');
  const writer = await RawClient.connect(world, 'writer');
  await writer.ask(create('/q', 'persistent'));
  await writer.ask(create('/q/a', 'persistent'));
  return { world, watcher, writer, told: () => watcher.events.map(({ type, path }) => `${type} ${path}`) };
}

describe('watches at a simulated server', () => {
  it('are told once', async () => {
    const { world, watcher, writer, told } = await given();
    await watcher.ask(get('/q/a', WATCH));
    await writer.ask(set('/q/a', Buffer.from('1')));
    await writer.ask(set('/q/a', Buffer.from('2')));
    await world.runFor(10);
    expect(told()).toEqual(['changed /q/a']);
    expect(world.watchCount).toBe(0);
  });

  it('are set by get and list only on nodes that are there, by exists also on others', async () => {
    const { world, watcher, writer, told } = await given();
    expect(await watcher.errorOf(get('/later', WATCH))).toBe(NO_NODE);
    expect(await watcher.errorOf(list('/later', WATCH))).toBe(NO_NODE);
    expect(world.watchCount).toBe(0);
    expect(await watcher.errorOf(exists('/later', WATCH))).toBe(NO_NODE);
    await writer.ask(create('/later', 'persistent'));
    await world.runFor(10);
    expect(told()).toEqual(['created /later']);
  });

  it('tell of children coming and going, and of the end of the node once', async () => {
    const { world, watcher, writer, told } = await given();
    await watcher.ask(list('/q', WATCH));
    await writer.ask(create('/q/b', 'persistent'));
    await world.runFor(10);
    await watcher.ask(list('/q', WATCH));
    await writer.ask(remove('/q/b'));
    await world.runFor(10);
    await watcher.ask(list('/q/a', WATCH));
    await watcher.ask(get('/q/a', WATCH));
    await writer.ask(remove('/q/a'));
    await world.runFor(10);
    expect(told()).toEqual(['children /q', 'children /q', 'deleted /q/a']);
    expect(world.watchCount).toBe(0);
  });

  it('are told before any reply that shows the change', async () => {
    const { world, watcher, writer } = await given();
    await watcher.ask(get('/q/a', WATCH));
    const removal = writer.send(remove('/q/a'));
    const looks = Array.from({ length: 5 }, () => watcher.send(exists('/q/a')).catch(() => undefined));
    await world.settle(Promise.all([removal, ...looks]));
    await watcher.errorOf(exists('/q/a'));
    const event = watcher.log.findIndex((line) => line.includes('event deleted'));
    const firstSight = watcher.log.findIndex((line) => line.includes(`reply exists ${NO_NODE}`));
    expect(event).toBeGreaterThan(-1);
    expect(event).toBeLessThan(firstSight);
  });

  it('are not told of nodes that their owner may not read', async () => {
    const { world, watcher, writer, told } = await given();
    for (const name of ['secret', 'open']) await watcher.errorOf(exists(`/q/${name}`, WATCH));
    await writer.control({ op: 'auth', scheme: 'digest', credential: Buffer.from('writer:secret') });
    await writer.ask(create('/q/secret', 'persistent', undefined, [{ permissions: 31, scheme: 'auth', id: '' }]));
    await writer.ask(create('/q/open', 'persistent'));
    await world.runFor(10);
    expect(told()).toEqual(['created /q/open']);
  });

  it('can be taken back by kind, and not twice', async () => {
    const { world, watcher, writer, told } = await given();
    await watcher.ask(get('/q', WATCH));
    await watcher.ask(list('/q', WATCH));
    expect(await watcher.errorOf({ op: 'removeWatches', path: '/q', kind: 'data' })).toBe(0);
    expect(await watcher.errorOf({ op: 'removeWatches', path: '/q', kind: 'data' })).toBe(NO_WATCHER);
    expect(world.watchCount).toBe(1);
    expect(await watcher.errorOf({ op: 'removeWatches', path: '/q', kind: 'children' })).toBe(0);
    await writer.ask(create('/q/b', 'persistent'));
    await world.runFor(10);
    expect(told()).toEqual([]);
  });

  it('go with their connection', async () => {
    const { world, watcher } = await given();
    await watcher.ask(get('/q', WATCH));
    await watcher.ask(list('/q', WATCH));
    watcher.link.destroy();
    await world.runUntil(() => world.watchCount === 0, 100);
  });

  it('are restored after a reconnect: what was missed is told at once, the rest when it comes', async () => {
    const { world, watcher, writer } = await given();
    for (const name of ['b', 'c', 'd']) await writer.ask(create(`/q/${name}`, 'persistent'));
    await watcher.ask(sync('/'));
    const relativeZxid = watcher.link.lastZxid;
    watcher.link.destroy();
    await writer.ask(set('/q/a', Buffer.from('missed')));
    await writer.ask(remove('/q/b'));
    await writer.ask(create('/q/e', 'persistent'));
    const again = await RawClient.connect(world, 'watcher', 1, { session: watcher.granted! });
    const request = {
      op: 'setWatches',
      relativeZxid,
      data: ['/q/a', '/q/b', '/q/c'],
      exists: ['/q/e', '/q/f'],
      children: ['/q', '/q/d'],
    } as const;
    await again.control(request);
    expect(again.events.map(({ type, path }) => `${type} ${path}`)).toEqual([
      'changed /q/a',
      'deleted /q/b',
      'created /q/e',
      'children /q',
    ]);
    expect(world.watchCount).toBe(3);
    await writer.ask(create('/q/f', 'persistent'));
    await world.runFor(10);
    expect(again.events.at(-1)).toEqual({ type: 'created', path: '/q/f' });
  });

  it('come late when they are delayed, and what follows them waits', async () => {
    const { world, watcher, writer } = await given();
    await watcher.ask(get('/q/a', WATCH));
    world.faults.delayWatches(world.process('watcher'), 300);
    await writer.ask(remove('/q/a'));
    await watcher.errorOf(exists('/q/a'));
    expect(world.now()).toBeGreaterThanOrEqual(300);
    expect(watcher.events).toHaveLength(1);
  });
});
