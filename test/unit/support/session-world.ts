import { SessionClient } from '../../../lib/session/core/session-client.js';
import type { SessionSettings } from '../../../lib/session/options.js';
import type { ConnectionState } from '../../../lib/session/connection-state.js';
import type { Stat } from '../../../lib/session/requests.js';
import { ManualClock } from './manual-clock.js';
import { ScriptedDialer, type ScriptedLink } from './scripted-dialer.js';

export const ONE_SERVER = [{ host: 'zk1', port: 2181 }];
export const THREE_SERVERS = ['zk1', 'zk2', 'zk3'].map((host) => ({ host, port: 2181 }));

export function settings(clock: ManualClock, overrides: Partial<SessionSettings> = {}): SessionSettings {
  return {
    servers: ONE_SERVER,
    chroot: '',
    sessionTimeoutMs: 10_000,
    serverTickMs: 2_000,
    namespace: '',
    auth: [],
    acl: [{ permissions: 31, scheme: 'world', id: 'anyone' }],
    clock,
    random: () => 0.5,
    ...overrides,
  };
}

export function stat(overrides: Partial<Stat> = {}): Stat {
  return {
    czxid: 1n,
    mzxid: 1n,
    ctime: 0,
    mtime: 0,
    version: 0,
    cversion: 0,
    aversion: 0,
    ephemeralOwner: 0n,
    dataLength: 0,
    numChildren: 0,
    pzxid: 1n,
    ...overrides,
  };
}

/** A session client in virtual time, with the test as its servers. */
export class SessionWorld {
  readonly clock = new ManualClock();
  readonly dialer = new ScriptedDialer();
  readonly client: SessionClient;
  readonly states: ConnectionState[] = [];

  constructor(overrides: Partial<SessionSettings> = {}) {
    this.client = new SessionClient(settings(this.clock, overrides), this.dialer);
    this.client.state$.subscribe((state) => this.states.push(state));
  }

  get link(): ScriptedLink {
    return this.dialer.last;
  }

  /** A world whose first connection was granted a session. */
  static connected(overrides: Partial<SessionSettings> = {}, grantedMs = 10_000): SessionWorld {
    const world = new SessionWorld(overrides);
    world.link.grant(grantedMs);
    return world;
  }

  /** Lets time pass until a new link is dialled. */
  async nextLink(withinMs = 60_000): Promise<ScriptedLink> {
    const count = this.dialer.links.length;
    for (let waitedMs = 0; waitedMs <= withinMs; waitedMs += 5) {
      if (this.dialer.links.length > count) return this.dialer.links[count]!;
      await this.clock.advance(5);
    }
    throw new Error(`No link was dialled within ${withinMs} ms`);
  }

  /** Cuts the link, and refuses everything until the session has been out of touch for S. */
  async loseTouch(link = this.link): Promise<void> {
    this.dialer.onDial = (next) => next.hangUp();
    link.hangUp();
    for (let waited = 0; waited < 1_000 && this.client.state !== 'lost'; waited += 1) await this.clock.advance(50);
    this.dialer.onDial = () => undefined;
  }
}
