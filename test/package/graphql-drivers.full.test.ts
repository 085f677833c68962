import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { FreshApplication, NEST_12_ESM } from './support/fresh-application.js';
import { pack } from './support/pack.js';

const SLOW_MS = 600_000;

/** Asks itself for a lock that is busy, and prints what GraphQL answers. */
const ASKS_ITSELF = `
import 'reflect-metadata';
import { Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { ApolloDriver } from '@nestjs/apollo';
import { Args, GraphQLModule, Query, Resolver } from '@nestjs/graphql';
import { MercuriusDriver } from '@nestjs/mercurius';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import { DistributedLockModule, Locked, LockService } from 'nestjs-zookeeper-lock';

@Resolver()
class OrdersResolver {
  @Query(() => String)
  @Locked('/orders/:id', { waitMs: 50 })
  async order(@Args('id') id: string): Promise<string> {
    return id;
  }
}

const driver = process.argv[2] === 'mercurius' ? MercuriusDriver : ApolloDriver;

@Module({
  imports: [DistributedLockModule.forRoot({ connect: 'memory:' }), GraphQLModule.forRoot({ driver, autoSchemaFile: true })],
  providers: [OrdersResolver],
})
class AppModule {}

const options = { logger: ['error'] } as { logger: ['error'] };
const app =
  driver === MercuriusDriver
    ? await NestFactory.create(AppModule, new FastifyAdapter(), options)
    : await NestFactory.create(AppModule, options);
await app.listen(0, '127.0.0.1');
const lock = await app.get(LockService).acquire('/orders/7');
const response = await fetch(\`\${await app.getUrl()}/graphql\`, {
  method: 'POST',
  headers: { 'content-type': 'application/json', connection: 'close' },
  body: JSON.stringify({ query: '{ order(id: "7") }' }),
});
console.log(await response.text());
await lock.release();
await app.close();
`;

const folder = mkdtempSync(join(tmpdir(), 'graphql-'));
const application = new FreshApplication(join(folder, 'application'));

beforeAll(async () => {
  const { tarball } = await pack(folder);
  application.write('src/graphql.ts', ASKS_ITSELF);
  const manifest = NEST_12_ESM.manifest as { dependencies: object };
  const dependencies = {
    ...manifest.dependencies,
    '@apollo/server': '^5.0.0',
    '@as-integrations/express5': '^1.1.0',
    '@nestjs/apollo': '^14.0.0',
    '@nestjs/graphql': '^14.0.0',
    '@nestjs/mercurius': '^14.0.0',
    '@nestjs/platform-fastify': '^12.0.0',
    fastify: '^5.2.1',
    graphql: '^16.10.0',
    mercurius: '^16.0.1',
  };
  await application.make({ ...NEST_12_ESM, manifest: { ...manifest, dependencies } }, tarball);
}, SLOW_MS);

afterAll(() => rmSync(folder, { recursive: true, force: true }));

it.each(['apollo', 'mercurius'])(
  'the clients of %s are told the code of a lock error',
  async (driver) => {
    const text = await application.run(process.execPath, 'dist/graphql.js', driver);
    const { errors } = JSON.parse(text.slice(text.indexOf('{'))) as { errors: object[] };

    expect(errors).toMatchObject([
      { message: expect.stringMatching(/^The lock is busy/), extensions: { code: 'LOCK_TIMEOUT' } },
    ]);
    expect(text).not.toMatch(/\/orders/);
  },
  SLOW_MS,
);
