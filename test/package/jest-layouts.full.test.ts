import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { FreshApplication, NEST_12_ESM } from './support/fresh-application.js';
import {
  AS_ES_MODULES,
  COMPILER_OPTIONS_11,
  JEST_OF_THE_SCRIPTS,
  NODE_24_PATH,
  OLDER_SETTINGS,
  olderSettingsPath,
  writeNest11Starter,
  writeNest12Starter,
} from './support/nest-starters.js';
import { pack } from './support/pack.js';
import { runUntilItExits } from './support/run-jest.js';

const SLOW_MS = 600_000;
const folder = mkdtempSync(join(tmpdir(), 'layouts-'));
let tarball: string;

beforeAll(async () => {
  ({ tarball } = await pack(folder));
}, SLOW_MS);

afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** The oldest that the page on testing names for a setting, and the two between which `nodenext` learned most. */
const COMPILERS = ['5.2', '5.4', '5.7', '5.8'] as const;
const aliases = Object.fromEntries(COMPILERS.map((one) => [`typescript-${one}`, `npm:typescript@~${one}.0`]));

const npm = new FreshApplication(join(folder, 'npm'));
const pnpm = new FreshApplication(join(folder, 'pnpm'));
let npmInstalled: Promise<void> | undefined;

/** The tests of Jest and those of the types share the application. */
function installByNpm(): Promise<void> {
  npmInstalled ??= (async () => {
    writeNest11Starter(npm, tarball, aliases);
    await npm.run('npm', 'install', '--no-audit', '--no-fund', '--no-package-lock', '--prefer-offline');
  })();
  return npmInstalled;
}

async function installByPnpm(): Promise<void> {
  writeNest11Starter(pnpm, tarball);
  await pnpm.run('npx', '--yes', 'pnpm@10', 'install', '--no-lockfile', '--prefer-offline');
}

describe.each([
  ['npm', npm, installByNpm],
  ['pnpm', pnpm, installByPnpm],
])("the starter's Jest on Nest 11, installed by %s, without a line for the package", (_name, application, install) => {
  beforeAll(install, SLOW_MS);

  const jest = (...args: string[]) => runUntilItExits('node_modules/.bin/jest', args, application.folder);

  it('has the package and Nest 11', () => {
    expect(application.versionOf('nestjs-zookeeper-lock')).toBeDefined();
    expect(application.versionOf('@nestjs/core')).toMatch(/^11\./);
  });

  it(
    'runs a spec that closes no module, and exits',
    async () => {
      const { code, output } = await jest();

      expect(output).toMatch(/^Tests: +1 passed, 1 total/m);
      expect({ code, output }).toMatchObject({ code: 0 });
    },
    SLOW_MS,
  );

  it(
    'runs an end-to-end spec by test/jest-e2e.json, and exits',
    async () => {
      const { code, output } = await jest('--config', './test/jest-e2e.json');

      expect(output).toMatch(/^Tests: +1 passed, 1 total/m);
      expect({ code, output }).toMatchObject({ code: 0 });
    },
    SLOW_MS,
  );

  it.each(OLDER_SETTINGS.map(([name], index) => [name, olderSettingsPath(index)] as const))(
    'runs both, and exits, with %s',
    async (_settings, path) => {
      const { code, output } = await jest('--config', path, '--runInBand');

      expect(output).toMatch(/^Tests: +2 passed, 2 total/m);
      expect({ code, output }).toMatchObject({ code: 0 });
    },
    SLOW_MS,
  );
});

describe("the starter's Jest on Nest 12 as CommonJS, by the scripts of the starter", () => {
  const application = new FreshApplication(join(folder, 'nest-12'));

  beforeAll(async () => {
    writeNest12Starter(application, tarball);
    await application.run('npm', 'install', '--no-audit', '--no-fund', '--no-package-lock', '--prefer-offline');
  }, SLOW_MS);

  it('has the package, Nest 12 and ts-jest', () => {
    expect(application.versionOf('nestjs-zookeeper-lock')).toBeDefined();
    expect(application.versionOf('@nestjs/core')).toMatch(/^12\./);
    expect(application.versionOf('ts-jest')).toBeDefined();
  });

  it.each([
    ['a spec, and exits, on Node.js 24 without a line for the package', NODE_24_PATH, []],
    ['an end-to-end spec, and exits, there', NODE_24_PATH, ['--config', './test/jest-e2e.json']],
    ['a spec, and exits, as an ES module on this Node.js', process.execPath, ['--config', AS_ES_MODULES[0]!]],
    ['an end-to-end spec, and exits, as an ES module', process.execPath, ['--config', AS_ES_MODULES[1]!]],
  ])(
    'runs %s',
    async (_what, node, args) => {
      const { code, output } = await runUntilItExits(node, [...JEST_OF_THE_SCRIPTS, ...args], application.folder);

      expect(output).toMatch(/^Tests: +1 passed, 1 total/m);
      expect({ code, output }).toMatchObject({ code: 0 });
    },
    SLOW_MS,
  );
});

/** Were the package's types not found, or `any`, the path would be no error, and its absence one. */
const TYPED = `
import { Fence, injected, Locked } from 'nestjs-zookeeper-lock';
import { provideLockTesting } from 'nestjs-zookeeper-lock/testing';

export class Counters {
  @Locked('/counters/:name')
  async count(name: string, @Fence() token: bigint = injected()): Promise<string> {
    return name + String(token);
  }

  // @ts-expect-error: a relative path is refused
  @Locked('counters')
  async refused(): Promise<void> {}
}

export const providers = [Counters, ...provideLockTesting()];
`;

describe('the types', () => {
  beforeAll(installByNpm, SLOW_MS);

  it.each([
    ['5.2', 'commonjs', 'node10'],
    ['5.2', 'node16', 'node16'],
    ['5.2', 'nodenext', 'nodenext'],
    ['5.4', 'preserve', 'bundler'],
    ['5.4', 'esnext', 'bundler'],
    ['5.7', 'nodenext', 'nodenext'],
    ['5.8', 'nodenext', 'nodenext'],
  ])(
    'are taken by TypeScript %s with module %s and moduleResolution %s',
    async (version, module, moduleResolution) => {
      const compilerOptions = {
        ...COMPILER_OPTIONS_11,
        // TypeScript 5.2 knows no later target, and the resolver of old reads no `exports`.
        target: 'ES2022',
        resolvePackageJsonExports: moduleResolution !== 'node10',
        module,
        moduleResolution,
        types: ['node'],
        noEmit: true,
        incremental: false,
      };
      npm.write('src/typed.ts', TYPED);
      npm.write(
        'tsconfig.older.json',
        JSON.stringify({ compilerOptions, files: ['src/typed.ts', 'src/app.module.ts'] }),
      );
      const compiler = `typescript-${version}`;
      expect(npm.versionOf(compiler)).toMatch(version);

      expect(await npm.run(process.execPath, `node_modules/${compiler}/bin/tsc`, '-p', 'tsconfig.older.json')).toBe('');
    },
    SLOW_MS,
  );
});

const FAKE_TIMERS_SPEC = `
import 'reflect-metadata';
import { Test, type TestingModule } from '@nestjs/testing';
import { LockService } from 'nestjs-zookeeper-lock';
import { LockTesting, provideLockTesting } from 'nestjs-zookeeper-lock/testing';
import { CountersController } from './counters.controller.js';

describe('the stand-in, while no timer of the test fires', () => {
  let module: TestingModule;
  const fired = vi.fn();

  beforeEach(async () => {
    vi.useFakeTimers();
    setTimeout(fired, 1);
    module = await Test.createTestingModule({
      controllers: [CountersController],
      providers: provideLockTesting({ waitMs: 10_000 }),
    }).compile();
    await module.init();
  });

  afterEach(async () => {
    await module.close();
    expect(fired).not.toHaveBeenCalled();
    expect(vi.isFakeTimers()).toBe(true);
    vi.useRealTimers();
  });

  it('gives out locks and takes them back', async () => {
    const first = await module.get(CountersController).count('a');
    expect(BigInt((await module.get(CountersController).count('a')).token) > BigInt(first.token)).toBe(true);
  });

  it('ends a wait in time', async () => {
    await module.get(LockTesting).makeBusy('/counters/a');
    await expect(module.get(LockService).acquire('/counters/a', { waitMs: 30 })).rejects.toMatchObject({
      code: 'LOCK_TIMEOUT',
    });
  });

  it('loses locks, and comes back', async () => {
    const lock = await module.get(LockService).acquire('/counters/a');
    await module.get(LockTesting).lose('/counters/a');
    expect(lock.signal.aborted).toBe(true);
    await module.get(LockTesting).untilState('reconnected');
  });

  it('closes with a lock that is held', async () => {
    const lock = await module.get(LockService).acquire('/counters/a', { leaseMs: 100 });
    await module.close();
    expect(lock.isHeld()).toBe(false);
  });
});
`;

it(
  "Vitest's fake timers, on Nest 12 with ES modules, leave the stand-in at work, its close included",
  async () => {
    const application = new FreshApplication(join(folder, 'vitest'));
    application.write('src/fake-timers.spec.ts', FAKE_TIMERS_SPEC);
    await application.make(NEST_12_ESM, tarball);
    expect(application.versionOf('@nestjs/core')).toMatch(/^12\./);

    const { code, output } = await runUntilItExits('npm', ['test'], application.folder);

    expect(output).toMatch(/^ *Tests +5 passed \(5\)/m);
    expect(output).not.toMatch(/timed out|hanging/i);
    expect({ code, output }).toMatchObject({ code: 0 });
  },
  SLOW_MS,
);
