import { describe, expect, it } from '@jest/globals';
import { serversOf } from '../support/find-zookeeper/given.js';
import { handshake } from '../support/find-zookeeper/handshake.js';
import { sharedConnect, sharedKind } from '../support/find-zookeeper/shared.js';

describe('ZooKeeper in a container, through testcontainers', () => {
  it('is what the tests run against', () => {
    expect(sharedKind()).toBe('container');
  });

  it('grants a session over its mapped port', async () => {
    const [server] = serversOf(sharedConnect());
    expect(server).toBeDefined();
    if (server === undefined) return;
    expect(await handshake(server.host, server.port, 5_000)).toBeGreaterThan(0);
  });
});
