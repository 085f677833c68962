import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { FreshApplication, NEST_11_COMMON_JS, NEST_12_COMMON_JS, NEST_12_ESM } from './support/fresh-application.js';
import { pack } from './support/pack.js';

const SLOW_MS = 600_000;
const folder = mkdtempSync(join(tmpdir(), 'fresh-'));
let tarball: string;

beforeAll(async () => {
  ({ tarball } = await pack(folder));
}, SLOW_MS);

afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe.each([
  ['Nest 12, ES modules', 'nest-12-esm', NEST_12_ESM, /^12\./],
  ['Nest 12, CommonJS', 'nest-12-cjs', NEST_12_COMMON_JS, /^12\./],
  ['Nest 11, CommonJS', 'nest-11-cjs', NEST_11_COMMON_JS, /^11\./],
])('the packed package in a fresh application of %s', (_what, name, recipe, major) => {
  const application = new FreshApplication(join(folder, name));

  it(
    'installs and compiles',
    async () => {
      await application.make(recipe, tarball);

      expect(application.versionOf('@nestjs/core')).toMatch(major);
      expect(application.versionOf('@nestjs/terminus')).toBeUndefined();
      expect(application.versionOf('zookeeper')).toBeUndefined();
    },
    SLOW_MS,
  );

  it(
    'locks a request, with a token that rises, and ends on SIGTERM',
    async () => {
      const answers = await application.serve(['/counters/a', '/counters/a']);
      const tokens = answers.map(({ token }) => BigInt(token ?? 0));

      expect(answers).toMatchObject([{ name: 'a' }, { name: 'a' }]);
      expect(tokens[0]).toBeGreaterThan(0n);
      expect(tokens[1]).toBeGreaterThan(tokens[0]!);
    },
    SLOW_MS,
  );

  it(
    'is tested by its own runner, on locks in memory',
    async () => {
      expect(await application.run('npm', 'test')).toMatch(/^ *Tests:? +1 passed/m);
    },
    SLOW_MS,
  );

  it(
    'is told who provides the lock service, where nobody does',
    async () => {
      application.write(
        'forgotten.mjs',
        `import 'reflect-metadata';
         import { Inject, Module } from '@nestjs/common';
         import { NestFactory } from '@nestjs/core';
         import { getLockServiceToken, LockService } from 'nestjs-zookeeper-lock';
         for (const token of [LockService, getLockServiceToken('orders')]) {
           class Orders {}
           Inject(token)(Orders, undefined, 0);
           class AppModule {}
           Module({ providers: [Orders] })(AppModule);
           await NestFactory.createApplicationContext(AppModule, { logger: false, abortOnError: false }).then(
             () => console.log('started'),
             (error) => console.log(error.message),
           );
         }`,
      );

      const output = await application.run(process.execPath, 'forgotten.mjs');
      const cure = 'DistributedLockModule.forRoot(...), in a test by ...provideLockTesting() from';
      expect(output).toContain(
        `the argument LockService (provided by ${cure} nestjs-zookeeper-lock/testing) at index [0]`,
      );
      expect(output).toContain(
        "LockService 'orders' (provided by DistributedLockModule.forRoot({ name: 'orders', ... }), in a test by " +
          "...provideLockTesting({ name: 'orders' }) from nestjs-zookeeper-lock/testing)\" at index [0]",
      );
    },
    SLOW_MS,
  );

  it(
    'is told what to install for the health indicator',
    async () => {
      application.write(
        'health.mjs',
        `import 'reflect-metadata';
         import { NestFactory } from '@nestjs/core';
         import { LockHealthModule } from 'nestjs-zookeeper-lock/terminus';
         await NestFactory.createApplicationContext(LockHealthModule, { logger: false, abortOnError: false }).then(
           () => console.log('started'),
           (error) => console.log(error.code, error.message),
         );`,
      );

      expect(await application.run(process.execPath, 'health.mjs')).toMatch(
        /^LOCK_CONFIGURATION .*npm install @nestjs\/terminus/,
      );
    },
    SLOW_MS,
  );
});
