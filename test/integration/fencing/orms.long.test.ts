import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { ObjectServer } from '../../support/fencing/object-server.js';
import { APPLICATIONS } from '../../support/fencing/orms/applications.js';
import { expectFenced } from '../../support/fencing/orms/orm-promises.js';
import { compileSnippets, SnippetApplication } from '../../support/fencing/orms/run-snippet.js';
import { OBJECT_CLIENTS, runObjectClient } from '../../support/fencing/orms/object-clients.js';
import { type SqlWorld, startWorld } from '../../support/fencing/sql/start-world.js';
import { packagesFolder } from '../../support/packages/install-packages.js';

const INSTALL_MS = 400_000;
const RUN_MS = 120_000;
const DATABASES = ['postgres', 'mysql'] as const;

let packages: string;

beforeAll(async () => {
  packages = await packagesFolder('orms');
}, INSTALL_MS);

describe('What the page about transactions shows', () => {
  it('compiles', () => expect(compileSnippets(packages, APPLICATIONS)).toEqual([]), RUN_MS);

  describe.each(DATABASES)('over %s', (dialect) => {
    let world: SqlWorld;
    let application: SnippetApplication | undefined;

    beforeAll(async () => {
      world = await startWorld(dialect);
      await world.reset();
    }, INSTALL_MS);
    afterAll(() => world?.stop(), 30_000);
    afterEach(() => application?.remove());

    it.each(APPLICATIONS)(
      'keeps a stale writer out with $name',
      async (orm) => {
        application = await SnippetApplication.make(packages, orm, dialect);
        await expectFenced(application, world.place);
      },
      RUN_MS,
    );
  });
});

describe('What the page about object stores shows', () => {
  it.each(OBJECT_CLIENTS)(
    'keeps a stale writer out with $name, and finds out about a write whose answer was lost',
    async (client) => {
      const server = await ObjectServer.start();
      try {
        server.meet('lose the answer');
        expect(await runObjectClient(packages, client, server.url)).toEqual([
          'accepted',
          'accepted',
          'STALE_FENCING_TOKEN',
          'ab',
        ]);
        // The SDK sends again by itself, and is told that the condition is not met any more.
        expect(server.answers).toEqual(client.sendsAgain ? [412, 200] : [200]);
      } finally {
        await server.stop();
      }
    },
    RUN_MS,
  );
});
