import type { FaultProxy } from '../../support/proxy/fault-proxy.js';
import type { OpcodeName } from '../../support/proxy/opcodes.js';
import type { ClientLink, Op, SentRequest } from './contract-world.js';

const OPCODES = {
  create: ['create', 'create2', 'createContainer'],
  delete: ['delete'],
  set: ['setData'],
  multi: ['multi'],
  get: ['getData'],
} as const;

const OPS: Partial<Record<OpcodeName, Op>> = {
  connect: 'handshake',
  create: 'create',
  create2: 'create',
  createContainer: 'create',
  delete: 'delete',
  exists: 'exists',
  getData: 'get',
  setData: 'set',
  getChildren: 'list',
  getChildren2: 'list',
  sync: 'sync',
  multi: 'multi',
  setWatches: 'setWatches',
  removeWatches: 'removeWatches',
  ping: 'ping',
  auth: 'auth',
  closeSession: 'closeSession',
};

/** One client's way to the servers: the same trouble on the proxy before each of them. */
export class ProxiedLink implements ClientLink {
  constructor(
    private readonly proxies: readonly FaultProxy[],
    private readonly chroot: string,
  ) {}

  cut(): void {
    for (const proxy of this.proxies) proxy.cut();
  }

  async refuse(): Promise<void> {
    await Promise.all(this.proxies.map((proxy) => proxy.refuse()));
    this.cut();
  }

  blackHole(direction?: 'to-server' | 'to-client'): void {
    const directions = direction === undefined ? 'both' : direction === 'to-server' ? 'toServer' : 'toClient';
    for (const proxy of this.proxies) proxy.swallow(directions);
  }

  async pass(): Promise<void> {
    await Promise.all(this.proxies.map((proxy) => proxy.pass()));
  }

  loseReplyOfNext(op: keyof typeof OPCODES): void {
    const rules = this.proxies.map((proxy) => proxy.onRequest({ opcode: OPCODES[op], action: 'loseReply' }));
    for (const { seen } of rules) {
      // Whichever server it was: the request is sent once, so the rule must not wait for another at the others.
      seen.then(
        () => rules.forEach((rule) => rule.release()),
        () => undefined,
      );
    }
  }

  losePartOfSetWatches(): void {
    for (const proxy of this.proxies) {
      proxy.onRequest({ opcode: 'setWatches', nth: 2, action: 'holdRequest' });
    }
  }

  lieAboutExpiry(): void {
    const rules = this.proxies.map((proxy) => proxy.expireNextHandshake());
    for (const { seen } of rules) {
      seen.then(
        () => rules.forEach((rule) => rule.release()),
        () => undefined,
      );
    }
  }

  sent(): readonly SentRequest[] {
    return this.proxies
      .flatMap((proxy) => proxy.requests())
      .map(({ opcode, path, at }) => ({ op: opNamed(opcode), path: this.#relative(path), at }))
      .sort((one, other) => one.at - other.at);
  }

  async stop(): Promise<void> {
    await Promise.all(this.proxies.map((proxy) => proxy.stop()));
  }

  #relative(path: string | undefined): string | undefined {
    if (path === undefined || !path.startsWith(`${this.chroot}/`)) return path;
    return path.slice(this.chroot.length);
  }
}

function opNamed(opcode: OpcodeName): Op {
  const op = OPS[opcode];
  if (op === undefined) throw new Error(`A session has no request for the opcode ${opcode}.`);
  return op;
}
