import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { ConnectionState } from '../../../../lib/session/connection-state.js';
import { isUp } from '../../../../lib/session/connection-state.js';
import { create, exists, get, list, remove } from '../../../../lib/session/requests.js';
import { PING_XID } from '../../../../lib/session/core/link.js';
import { promisesSettled } from '../../support/manual-clock.js';
import type { ScriptedLink } from '../../support/scripted-dialer.js';
import { SessionWorld, stat, THREE_SERVERS } from '../../support/session-world.js';
import { replyTo } from '../../../support/sessions/reply-to.js';

const FOLLOWERS: Readonly<Record<ConnectionState, readonly ConnectionState[]>> = {
  connecting: ['connected', 'lost', 'closed'],
  connected: ['suspended', 'closed'],
  suspended: ['reconnected', 'lost', 'closed'],
  reconnected: ['suspended', 'closed'],
  lost: ['connected', 'reconnected', 'closed'],
  closed: [],
};

/** A session client to which everything happens that can, and the calls that were made of it. */
class Chaos {
  readonly world = new SessionWorld({
    servers: THREE_SERVERS,
    serverTickMs: 500,
    sessionTimeoutMs: 2_000,
    auth: [{ scheme: 'digest', credential: new Uint8Array(1) }],
  });
  readonly releases: (() => void)[] = [];
  readonly watcher = { onWatchEvent: () => undefined };
  made = 0;
  settled = 0;

  track(call: Promise<unknown>): void {
    this.made += 1;
    const count = (): void => {
      this.settled += 1;
    };
    call.then(count, count);
  }
}

/** The newest link that is still open, if there is one. */
function openLink({ world }: Chaos): ScriptedLink | undefined {
  return world.dialer.open.at(-1);
}

/** Links whose handshake is to be answered, and links where it was. */
function ungreeted(chaos: Chaos): ScriptedLink | undefined {
  const link = openLink(chaos);
  return link?.greeted === false ? link : undefined;
}

function greeted(chaos: Chaos): ScriptedLink | undefined {
  const link = openLink(chaos);
  return link?.greeted === true ? link : undefined;
}

function answerOne(link: ScriptedLink): void {
  const next = link.sent.shift();
  if (next === undefined) return;
  const { op } = next.request;
  if (op === 'exists') link.reply(next.xid, stat());
  else if (op === 'get') link.reply(next.xid, { data: new Uint8Array(0), stat: stat() });
  else if (op === 'list') link.reply(next.xid, { children: [], stat: stat() });
  else if (op === 'create') link.reply(next.xid, { path: '/x', stat: stat() });
  else link.reply(next.xid, undefined);
}

let sessions = 0n;
function grant(link: ScriptedLink | undefined, timeoutMs: number): void {
  if (link === undefined) return;
  sessions += 1n;
  link.lastZxid = 9n;
  link.grant(timeoutMs, sessions);
}

/** Takes new sessions, refuses ours, and is slow to close the one that was given up. */
function wiped(link: ScriptedLink): void {
  link.open();
  if (link.offer?.sessionId === 0n || link.offer?.lastZxid === 0n) grant(link, 2_000);
  else link.hangUp();
  if (link.offer?.sessionId === 0n) for (let count = 0; count < 2; count += 1) answerOne(link);
}

type Deed = (chaos: Chaos) => void | Promise<void>;
const DEEDS: Readonly<Record<string, Deed>> = {
  grant: (chaos) => grant(ungreeted(chaos), 2_000),
  'grant less': (chaos) => grant(ungreeted(chaos), 1_000),
  expire: (chaos) => ungreeted(chaos)?.expire(),
  refuse: (chaos) => ungreeted(chaos)?.refuse(),
  'hang up': (chaos) => openLink(chaos)?.hangUp(),
  answer: (chaos) => {
    const link = openLink(chaos);
    if (link !== undefined) for (let count = 0; count < 3; count += 1) answerOne(link);
  },
  'answer out of order': (chaos) => greeted(chaos)?.reply(999_999, undefined),
  'answer a ping': (chaos) => greeted(chaos)?.reply(PING_XID, undefined),
  event: (chaos) => greeted(chaos)?.event('deleted', '/a'),
  batch: (chaos) => {
    const { client } = chaos.world;
    chaos.track(client.batch([create('/a', 'ephemeral'), list('/', chaos.watcher), get('/a', chaos.watcher)]));
    chaos.track(replyTo(client, exists('/b', chaos.watcher)));
    chaos.track(replyTo(client, remove('/a')));
  },
  unwatch: ({ world, watcher }) => {
    for (const path of ['/', '/a', '/b']) world.client.unwatch(path, watcher);
  },
  prove: (chaos) => chaos.track(chaos.world.client.proveLife()),
  hold: (chaos) => void chaos.releases.push(chaos.world.client.keepCertain()),
  release: (chaos) => chaos.releases.shift()?.(),
  'servers all refuse': ({ world }) => void (world.dialer.onDial = (link) => link.refuse()),
  'servers all grant': ({ world }) => void (world.dialer.onDial = (link) => grant(link, 2_000)),
  'servers all grant and hang up': ({ world }) =>
    void (world.dialer.onDial = (link) => {
      grant(link, 2_000);
      link.hangUp();
    }),
  'servers all are wiped': ({ world }) => void (world.dialer.onDial = wiped),
  'servers all wait': ({ world }) => void (world.dialer.onDial = () => undefined),
  'a moment': ({ world }) => world.clock.advance(60),
  'a tick': ({ world }) => world.clock.advance(500),
  'longer than S': ({ world }) => world.clock.advance(2_500),
  blocked: ({ world }) => world.clock.block(1_800),
};

/** What must be true at any moment. */
function expectSound({ world: { client, states, dialer } }: Chaos): void {
  states.slice(1).forEach((state, index) => expect(FOLLOWERS[states[index]!]).toContain(state));
  // The first time that the link is up is told apart from all others.
  states.filter(isUp).forEach((state, index) => expect(state).toBe(index === 0 ? 'connected' : 'reconnected'));
  if (isUp(client.state)) expect(client.identity).toBeDefined();
  if (client.identity === undefined) expect(client.certainUntil()).toBe(-Infinity);
  // One for the session, one for a session that was given up.
  expect(dialer.open.length).toBeLessThanOrEqual(2);
}

describe('Whatever happens, in whatever order', () => {
  it('states follow their rules, every call settles, and a close within its bound leaves nothing behind', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.constantFrom(...Object.keys(DEEDS)), { minLength: 5, maxLength: 60 }),
        async (deeds) => {
          const chaos = new Chaos();
          for (const deed of deeds) {
            await DEEDS[deed]!(chaos);
            await promisesSettled();
            expectSound(chaos);
          }
          let closed = false;
          void chaos.world.client.close(700).then(() => (closed = true));
          await chaos.world.clock.advance(700);
          expect(closed).toBe(true);
          expect(chaos.settled).toBe(chaos.made);
          expect(chaos.world.clock.timers).toBe(0);
          expect(chaos.world.dialer.open).toEqual([]);
          expect(chaos.world.states.at(-1)).toBe('closed');
        },
      ),
      { numRuns: 500 },
    );
  });
});
