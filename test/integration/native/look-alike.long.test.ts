import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { systemClock } from '../../../lib/lock/clock.js';
import { LockConfigurationError } from '../../../lib/lock/errors.js';
import { openLockService, resolveOptions, surroundingsInMemory } from '../../../lib/open.js';
import type { Link, LinkListener, Server } from '../../../lib/session/core/link.js';
import { NativeDialer } from '../../../lib/session/native/native-dialer.js';
import { NativeLink } from '../../../lib/session/native/native-link.js';
import { SocketDialer } from '../../../lib/session/wire/socket-dialer.js';
import { outcomeOf } from '../../support/locks/witness.js';
import { nativePackage } from '../../support/native/package-is-there.js';
import { scriptedPackage } from '../../support/native/scripted-package.js';
import { type StandaloneServer, startZooKeeper } from '../../support/zookeeper/start-zookeeper.js';

/** The package, over servers that count in another way: the last change of a node's children is told too low. */
function lookAlikePackage(): string {
  return scriptedPackage(`
const found = require(${JSON.stringify(nativePackage())});
module.exports = class extends (found.default ?? found) {
  constructor(config) {
    super(config);
    const { native } = this;
    const exists = native.a_exists;
    native.a_exists = (path, watch, done) => exists.call(native, path, watch, (rc, text, stat) =>
      done(rc, text, stat && stat.numChildren > 0 ? { ...stat, pzxid: stat.pzxid - 1 } : stat));
  }
};`);
}

class LookAlikeDialer extends NativeDialer {
  readonly #sockets = new SocketDialer({ acl: [] });
  override readonly packagePath = lookAlikePackage();

  override dial(server: Server, listener: LinkListener): Link {
    return new NativeLink(this, server, listener, (found) => this.#sockets.dial(server, found));
  }
}

describe("Servers that only resemble ZooKeeper, with the client 'native'", () => {
  let server: StandaloneServer;
  beforeAll(async () => {
    server = await startZooKeeper({ tickTimeMs: 500 });
  });
  afterAll(() => server.stop());

  it('are refused at the first lock of the session, by the zxid of its node, and nothing is left there', async () => {
    const around = {
      ...surroundingsInMemory(new Promise(() => undefined)),
      servers: [{ host: '127.0.0.1', port: server.port }],
      clock: systemClock,
      dialer: () => new LookAlikeDialer(new SocketDialer({ acl: [] })),
    };
    const options = { connect: server.connect, client: 'native', sessionTimeoutMs: 4_000, serverTickMs: 500 } as const;
    const { service, session } = openLockService(resolveOptions(options), around);

    const refusal = await outcomeOf(service.acquire('/locks/look-alike'));

    expect(refusal).toBeInstanceOf(LockConfigurationError);
    expect(refusal).toMatchObject({ code: 'LOCK_CONFIGURATION' });
    expect(String(session.failure)).toMatch(/the parent of \/locks\/look-alike\/.* told \d+ where the node has \d+/);
    expect(await outcomeOf(service.acquire('/locks/another'))).toMatchObject({ code: 'LOCK_CONFIGURATION' });
    expect((await server.dump()).sessionIds).toEqual([]);
    await service.close();
  });
});
