import { describe, expect, it } from '@jest/globals';
import { SET_WATCHES_XID } from '../../../../lib/session/core/link.js';
import {
  exists,
  get,
  list,
  remove,
  type Request,
  type WatchEvent,
  type Watcher,
} from '../../../../lib/session/requests.js';
import { SessionWorld, stat } from '../../support/session-world.js';
import { replyTo } from '../../../support/sessions/reply-to.js';

const NODE = { data: new Uint8Array(0), stat: stat() };
const CHILDREN = { children: [], stat: stat() };
const NO_NODE = -101;
const NO_WATCHER = -121;

class Recorder implements Watcher {
  readonly events: string[] = [];

  onWatchEvent({ type, path }: WatchEvent): void {
    this.events.push(`${type} ${path}`);
  }
}

/** What the server was asked to forget. */
function removals(world: SessionWorld): string[] {
  return world.link.sent.flatMap(({ request }) =>
    request.op === 'removeWatches' ? [`${request.kind} ${request.path}`] : [],
  );
}

function ask(world: SessionWorld, request: Request): void {
  void replyTo(world.client, request).catch(() => undefined);
}

/** The watch of `mine` is at the server and is taken back, while the requests of the others on its path are under way. */
function takenBackBeside(
  others: number,
  read: typeof get | typeof list = get,
): { world: SessionWorld; mine: Recorder; theirs: Recorder[] } {
  const world = SessionWorld.connected();
  const mine = new Recorder();
  ask(world, read('/a', mine));
  world.link.answer(read === get ? NODE : CHILDREN);
  const theirs = Array.from({ length: others }, () => new Recorder());
  for (const watcher of theirs) ask(world, read('/a', watcher));
  world.client.unwatch('/a', mine);
  return { world, mine, theirs };
}

describe('As a watch is set when the server says so,', () => {
  it('get and list set a watch where the node is, exists also where it is not', () => {
    const world = SessionWorld.connected();
    const watcher = new Recorder();
    for (const request of [get('/a', watcher), list('/b', watcher), exists('/c', watcher), exists('/d', watcher)]) {
      ask(world, request);
    }
    world.link.answer(NODE);
    world.link.answer(NO_NODE);
    world.link.answer(stat());
    world.link.answer(NO_NODE);
    world.link.event('changed', '/a');
    world.link.event('children', '/b');
    world.link.event('deleted', '/c');
    world.link.event('created', '/d');
    expect(watcher.events).toEqual(['changed /a', 'deleted /c', 'created /d']);
  });

  it('watches are set again on the next connection, each as what it was, from the newest transaction seen', async () => {
    const world = SessionWorld.connected();
    const watcher = new Recorder();
    for (const request of [get('/a', watcher), list('/b', watcher), exists('/c', watcher), exists('/d', watcher)]) {
      ask(world, request);
    }
    for (const answer of [NODE, CHILDREN, stat(), NO_NODE]) world.link.answer(answer);
    world.link.lastZxid = 42n;
    world.link.hangUp();
    const link = await world.nextLink();
    link.grant(10_000);
    expect(link.sent.map(({ request }) => request)).toEqual([
      { op: 'setWatches', relativeZxid: 42n, data: ['/a', '/c'], exists: ['/d'], children: ['/b'] },
    ]);
    expect(watcher.events).toEqual([]);
  });

  it('a link that ends before all frames that set them again were answered does not count as having seen anything', async () => {
    const world = SessionWorld.connected();
    for (const name of ['a', 'b']) {
      // Too long for one frame.
      ask(world, get(`/${name.repeat(100_000)}`, new Recorder()));
      world.link.answer(NODE);
    }
    world.link.lastZxid = 42n;
    world.link.hangUp();
    const second = await world.nextLink();
    second.grant(10_000);
    expect(second.operations()).toEqual(['setWatches', 'setWatches']);
    second.lastZxid = 50n;
    second.reply(SET_WATCHES_XID, undefined);
    second.hangUp();
    const third = await world.nextLink();
    third.grant(10_000);
    expect(third.sent.map(({ request }) => request)).toMatchObject([{ relativeZxid: 42n }, { relativeZxid: 42n }]);
    third.lastZxid = 60n;
    third.reply(SET_WATCHES_XID, undefined);
    third.reply(SET_WATCHES_XID, undefined);
    third.hangUp();
    const fourth = await world.nextLink();
    fourth.grant(10_000);
    expect(fourth.sent.map(({ request }) => request)).toMatchObject([{ relativeZxid: 60n }, { relativeZxid: 60n }]);
  });

  it('a watch that has fired is not set again', async () => {
    const world = SessionWorld.connected();
    ask(world, get('/a', new Recorder()));
    world.link.answer(NODE);
    world.link.event('deleted', '/a');
    world.link.hangUp();
    const link = await world.nextLink();
    link.grant(10_000);
    expect(link.sent).toEqual([]);
  });
});

describe('A watch that is taken back', () => {
  it('is forgotten by the server, and is told nothing more', () => {
    const world = SessionWorld.connected();
    const watcher = new Recorder();
    ask(world, get('/a', watcher));
    world.link.answer(NODE);
    world.client.unwatch('/a', watcher);
    expect(removals(world)).toEqual(['data /a']);
    world.link.event('changed', '/a');
    expect(watcher.events).toEqual([]);
    world.link.answer(NO_WATCHER);
    expect(world.client.state).toBe('connected');
  });

  it.each([
    ['sets it', NODE],
    ['finds nothing', NO_NODE],
  ])(
    'is removed behind the get, and in front of what is sent later, before the answer of the get, which %s',
    (_, answer) => {
      const world = SessionWorld.connected();
      const watcher = new Recorder();
      ask(world, get('/a', watcher));
      world.client.unwatch('/a', watcher);
      ask(world, remove('/b'));
      expect(world.link.operations()).toEqual(['get', 'removeWatches', 'delete']);
      world.link.answer(answer);
      world.link.event('changed', '/a');
      expect(watcher.events).toEqual([]);
      expect(removals(world)).toEqual(['data /a']);
    },
  );

  it('is removed behind both of two gets on one path before their answers, the second for another', () => {
    const world = SessionWorld.connected();
    const [mine, theirs] = [new Recorder(), new Recorder()];
    ask(world, get('/a', mine));
    ask(world, get('/a', theirs));
    world.client.unwatch('/a', mine);
    expect(removals(world)).toEqual([]);
    world.client.unwatch('/a', theirs);
    for (const answer of [NODE, NODE, NO_WATCHER]) world.link.answer(answer);
    expect(removals(world)).toEqual(['data /a']);
  });

  it('lives when it is asked for again before its answer, as it is set behind the removal', () => {
    const world = SessionWorld.connected();
    const watcher = new Recorder();
    ask(world, get('/a', watcher));
    world.client.unwatch('/a', watcher);
    ask(world, get('/a', watcher));
    for (const answer of [NODE, undefined, NODE]) world.link.answer(answer);
    world.link.event('changed', '/a');
    expect(watcher.events).toEqual(['changed /a']);
    expect(world.link.operations()).toEqual(['get', 'removeWatches', 'get']);
  });

  it('leaves the watch of another alive whose get on the same path is under way', () => {
    const { world, mine, theirs } = takenBackBeside(1);
    expect(removals(world)).toEqual([]);
    world.link.answer(NODE);
    world.link.event('changed', '/a');
    expect([mine.events, theirs[0]?.events]).toEqual([[], ['changed /a']]);
  });

  it('leaves the watch to the second of two gets on one path before its answer', () => {
    const world = SessionWorld.connected();
    const [mine, theirs] = [new Recorder(), new Recorder()];
    ask(world, get('/a', mine));
    ask(world, get('/a', theirs));
    world.client.unwatch('/a', mine);
    world.link.answer(NODE);
    expect(removals(world)).toEqual([]);
    world.link.answer(NODE);
    world.client.unwatch('/a', theirs);
    expect(removals(world)).toEqual(['data /a']);
  });

  it.each([
    ['is refused', -102],
    ['is put off by a server that is busy', -127],
    ['finds no node', NO_NODE],
  ])('is removed behind the answer of another whose get on the same path is under way, which %s', (_how, error) => {
    const { world, mine, theirs } = takenBackBeside(1);
    expect(removals(world)).toEqual([]);
    world.link.answer(error);
    expect(removals(world)).toEqual(['data /a']);
    world.link.event('changed', '/a');
    expect([mine.events, theirs[0]?.events]).toEqual([[], []]);
  });

  it.each([
    ['succeeds', NODE],
    ['is refused', -102],
  ])('is forgotten by the server with that of another whose get is under way, taken back, too, and %s', (_, answer) => {
    const { world, theirs } = takenBackBeside(1);
    world.client.unwatch('/a', theirs[0]!);
    world.link.answer(answer);
    expect(removals(world)).toEqual(['data /a']);
  });

  it('is removed later, as two others are under way, when neither has set it', () => {
    const { world } = takenBackBeside(2);
    world.link.answer(-102);
    expect(removals(world)).toEqual([]);
    world.link.answer(-102);
    expect(removals(world)).toEqual(['data /a']);
  });

  it('is not removed later, as two others are under way, when the second has set it', () => {
    const { world, mine, theirs } = takenBackBeside(2);
    world.link.answer(-102);
    world.link.answer(NODE);
    expect(removals(world)).toEqual([]);
    world.link.event('changed', '/a');
    expect([mine, ...theirs].map(({ events }) => events)).toEqual([[], [], ['changed /a']]);
  });

  it('is removed later, too, behind a list under way that fails', () => {
    const { world } = takenBackBeside(1, list);
    expect(removals(world)).toEqual([]);
    world.link.answer(-102);
    expect(removals(world)).toEqual(['children /a']);
  });

  it('is not set again with the next link, where its removal was put off', async () => {
    const { world } = takenBackBeside(1);
    world.link.hangUp();
    const link = await world.nextLink();
    link.grant(10_000);
    expect(link.sent).toEqual([]);
    // What was put off on the old link is no business of the new one.
    ask(world, get('/a'));
    link.answer(-102);
    expect(removals(world)).toEqual([]);
  });

  it('lives when it is asked for again right after that, and set behind the removal', () => {
    const world = SessionWorld.connected();
    const watcher = new Recorder();
    ask(world, get('/a', watcher));
    world.link.answer(NODE);
    world.client.unwatch('/a', watcher);
    ask(world, get('/a', watcher));
    expect(world.link.operations()).toEqual(['get', 'removeWatches', 'get']);
    world.link.answer();
    world.link.answer(NODE);
    world.link.event('changed', '/a');
    expect(watcher.events).toEqual(['changed /a']);
  });

  it('is not set again while suspended', async () => {
    const world = SessionWorld.connected();
    const watcher = new Recorder();
    ask(world, get('/a', watcher));
    world.link.answer(NODE);
    world.link.hangUp();
    world.client.unwatch('/a', watcher);
    const link = await world.nextLink();
    link.grant(10_000);
    expect(link.sent).toEqual([]);
  });

  it('costs nothing where the path is not watched', () => {
    const world = SessionWorld.connected();
    world.client.unwatch('/a', new Recorder());
    expect(world.link.sent).toEqual([]);
  });

  it('is not told any more when another watcher told of the same event takes it back', () => {
    const world = SessionWorld.connected();
    const second = new Recorder();
    const first: Watcher = { onWatchEvent: ({ path }) => world.client.unwatch(path, second) };
    ask(world, get('/a', first));
    ask(world, get('/a', second));
    world.link.answer(NODE);
    world.link.answer(NODE);
    world.link.event('changed', '/a');
    expect(second.events).toEqual([]);
  });
});
