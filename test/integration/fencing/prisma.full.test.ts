import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { PRISMA } from '../../support/fencing/orms/applications.js';
import { expectFenced } from '../../support/fencing/orms/orm-promises.js';
import { SnippetApplication } from '../../support/fencing/orms/run-snippet.js';
import { type SqlWorld, startWorld } from '../../support/fencing/sql/start-world.js';
import { packagesFolder } from '../../support/packages/install-packages.js';

const INSTALL_MS = 400_000;
const RUN_MS = 120_000;

describe('What the page about transactions shows for Prisma', () => {
  let world: SqlWorld;
  let application: SnippetApplication | undefined;

  beforeAll(async () => {
    world = await startWorld('postgres');
    await world.reset();
  }, INSTALL_MS);
  afterEach(() => application?.remove());
  afterAll(() => world?.stop(), 30_000);

  it(
    'compiles, and keeps a stale writer out',
    async () => {
      application = await SnippetApplication.make(await packagesFolder('prisma'), PRISMA, 'postgres');
      // To generate a client Prisma looks for an engine that it does not start, and would fetch from a host of its own.
      await application.execute('prisma/build/index.js', ['generate'], { PRISMA_SCHEMA_ENGINE_BINARY: '/bin/true' });
      expect(await application.compile()).toEqual([]);
      await expectFenced(application, world.place);
    },
    INSTALL_MS + RUN_MS,
  );
});
