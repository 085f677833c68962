import { randomUUID } from 'node:crypto';
import { systemClock } from '../../../lib/lock/clock.js';
import { parseConnectString } from '../../../lib/session/connect-string.js';
import type { Dialer, Server } from '../../../lib/session/core/link.js';
import { SessionClient } from '../../../lib/session/core/session-client.js';
import { type Acl, exists, list, remove } from '../../../lib/session/requests.js';
import { embeddedEnsemble } from '../../../lib/session/simulator/embedded.js';
import { SocketDialer } from '../../../lib/session/wire/socket-dialer.js';
import { TappedDialer } from '../../support/sessions/tapped-dialer.js';
import { ContractClient } from './contract-client.js';
import type { ClientLink, ClientOptions, ContractWorld } from './contract-world.js';
import { DEFAULTS } from './defaults.js';
import { WallClock } from './wall-clock.js';

/** The contract's world on a server that is not ours to harm, or `memory:`: a fresh chroot for each test, gone afterwards. */
export class SharedWorld extends WallClock implements ContractWorld {
  readonly serverCount = 1;
  readonly tickMs = 2_000;
  readonly timeoutMs = 10_000;
  readonly #chroot: string;
  readonly #servers: readonly Server[];
  readonly #dialer: (acl: readonly Acl[]) => Dialer;
  #root = `/contract-${randomUUID()}`;
  #open: ContractClient[] = [];

  constructor(connect: string) {
    super();
    const target = parseConnectString(connect);
    this.#chroot = target.chroot;
    if (target.kind === 'ensemble') {
      this.#servers = target.servers;
      this.#dialer = (acl) => new SocketDialer({ acl });
    } else {
      const ensemble = embeddedEnsemble(target.name);
      this.#servers = ensemble.servers;
      this.#dialer = (acl) => ensemble.dialer(acl);
    }
  }

  async open(options: ClientOptions = {}): Promise<ContractClient> {
    const settings = {
      ...DEFAULTS,
      sessionTimeoutMs: this.timeoutMs,
      serverTickMs: this.tickMs,
      clock: systemClock,
      random: Math.random,
      ...options,
      chroot: `${this.#chroot}${this.#root}${options.chroot ?? ''}`,
      servers: this.#servers,
    };
    const dialer = new TappedDialer(this.#dialer(settings.acl), () => this.now());
    const client = new ContractClient(this, new SessionClient(settings, dialer), new UnharmedLink(dialer));
    this.#open.push(client);
    return client;
  }

  async endTest(): Promise<void> {
    for (const client of this.#open.splice(0)) await client.session.close();
    const root = this.#root;
    this.#root = '';
    try {
      const cleaner = await (await this.open()).whenUp();
      // A test whose session never came up has left nothing.
      if ((await cleaner.ask(exists(root))) !== undefined) await removeAll(cleaner, root);
      await cleaner.session.close();
    } finally {
      this.#open = [];
      this.#root = `/contract-${randomUUID()}`;
    }
  }
}

async function removeAll(client: ContractClient, path: string): Promise<void> {
  const { children } = await client.ask(list(path));
  for (const child of children) await removeAll(client, `${path}/${child}`);
  await client.ask(remove(path));
}

/** Other tests use this server, too. */
class UnharmedLink implements ClientLink {
  constructor(private readonly dialer: TappedDialer) {}

  sent(): TappedDialer['sent'] {
    return this.dialer.sent;
  }

  cut(): never {
    throw new Error('The shared server and the way to it are not for tests of faults.');
  }

  readonly refuse = () => this.cut();
  readonly blackHole = () => this.cut();
  readonly pass = () => this.cut();
  readonly loseReplyOfNext = () => this.cut();
  readonly losePartOfSetWatches = () => this.cut();
  readonly lieAboutExpiry = () => this.cut();
}
