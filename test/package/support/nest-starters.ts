import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { CONTROLLER, type FreshApplication, nest, spec } from './fresh-application.js';
import { root } from './pack.js';

const JEST = {
  moduleFileExtensions: ['js', 'json', 'ts'],
  testRegex: '.*\\.spec\\.ts$',
  transform: { '^.+\\.(t|j)s$': 'ts-jest' },
  testEnvironment: 'node',
};

/** As the generator of Nest 11 writes it into package.json. */
const JEST_11 = {
  ...JEST,
  rootDir: 'src',
  collectCoverageFrom: ['**/*.(t|j)s'],
  coverageDirectory: '../coverage',
};

/** As the generator of Nest 12 writes it for CommonJS, without what reads path aliases. */
const JEST_12 = { ...JEST, rootDir: '.' };

/** As the generators of Nest 11 and 12 write it into `test/jest-e2e.json`. */
const JEST_E2E = { ...JEST, rootDir: '.', testRegex: '.e2e-spec.ts$' };

const COMPILER_OPTIONS = {
  module: 'nodenext',
  moduleResolution: 'nodenext',
  resolvePackageJsonExports: true,
  esModuleInterop: true,
  isolatedModules: true,
  declaration: true,
  removeComments: true,
  emitDecoratorMetadata: true,
  experimentalDecorators: true,
  allowSyntheticDefaultImports: true,
  target: 'ES2023',
  sourceMap: true,
  outDir: './dist',
  incremental: true,
  skipLibCheck: true,
};

/** As the generator of Nest 11 writes them into `tsconfig.json`. */
export const COMPILER_OPTIONS_11 = {
  ...COMPILER_OPTIONS,
  baseUrl: './',
  strictNullChecks: true,
  forceConsistentCasingInFileNames: true,
  noImplicitAny: true,
  strictBindCallApply: true,
  noFallthroughCasesInSwitch: true,
};

/** As the generator of Nest 12 writes them into `tsconfig.json`. */
const COMPILER_OPTIONS_12 = {
  ...COMPILER_OPTIONS,
  types: ['node', 'jest'],
  rootDir: '.',
  strict: true,
  strictPropertyInitialization: false,
};

// Nobody answers at this address: the end-to-end spec passes on the stand-in or not at all.
const MODULE = `
import { Module } from '@nestjs/common';
import { DistributedLockModule } from 'nestjs-zookeeper-lock';
import { CountersController } from './counters.controller';

@Module({ imports: [DistributedLockModule.forRoot({ connect: '127.0.0.1:1' })], controllers: [CountersController] })
export class AppModule {}
`;

const E2E_SPEC = `
import { Test, TestingModule } from '@nestjs/testing';
import { INestApplication } from '@nestjs/common';
import request from 'supertest';
import { App } from 'supertest/types';
import { overrideLocks } from 'nestjs-zookeeper-lock/testing';
import { AppModule } from './../src/app.module';

describe('CountersController (e2e)', () => {
  let app: INestApplication<App>;

  beforeEach(async () => {
    const moduleFixture: TestingModule = await overrideLocks(
      Test.createTestingModule({ imports: [AppModule] }),
    ).compile();

    app = moduleFixture.createNestApplication();
    await app.init();
  });

  it('/counters/a (POST)', async () => {
    const { body } = await request(app.getHttpServer()).post('/counters/a').expect(201);
    expect(body).toEqual({ name: 'a', token: expect.stringMatching(/^[1-9][0-9]*$/) });
  });

  afterEach(async () => {
    await app.close();
  });
});
`;

/** What people wrote so that Jest could load packages of ES modules, and wrote for other reasons. */
export const OLDER_SETTINGS: readonly [name: string, settings: object][] = [
  [
    'a pattern that has the package and Nest transformed',
    { transformIgnorePatterns: ['node_modules/(?!(nestjs-zookeeper-lock|@nestjs))'] },
  ],
  [
    "a pattern for pnpm's paths, and a transform that compiles scripts",
    {
      transform: {
        '^.+\\.[tj]s$': ['ts-jest', { tsconfig: { ...COMPILER_OPTIONS_11, allowJs: true, declaration: false } }],
      },
      transformIgnorePatterns: ['/node_modules/(?!(?:\\.pnpm/)?nestjs-zookeeper-lock)'],
    },
  ],
  ['a transform of TypeScript alone', { transform: { '^.+\\.ts$': 'ts-jest' } }],
];

/** The first Node.js whose modules Jest can `require` where they are ES modules; where a platform has no such package, npm fails. */
const NODE_24 = `node-${process.platform}-${process.arch}`;

/** Where the application has it. */
export const NODE_24_PATH = `node_modules/${NODE_24}/bin/node`;

/** What the scripts of the starter run Jest with. */
export const JEST_OF_THE_SCRIPTS = ['--experimental-vm-modules', './node_modules/jest/bin/jest.js'];

/** Of both configurations, of unit tests and of end-to-end ones, what stands in the page about testing. */
export const AS_ES_MODULES = ['jest.esm.json', './test/jest-e2e.esm.json'];

/** Writes an application as `nest new` of Nest 11 does, without what lints, formats and builds, and with a lock. */
export function writeNest11Starter(
  application: FreshApplication,
  tarball: string,
  otherDevDependencies: Readonly<Record<string, string>> = {},
): void {
  writeStarter(application, tarball, {
    nestVersion: '11',
    compilerOptions: COMPILER_OPTIONS_11,
    devDependencies: {
      '@types/node': '^20.19.0',
      'ts-jest': '^29.2.5',
      typescript: '^5.7.3',
      ...otherDevDependencies,
    },
    manifest: { scripts: { test: 'jest', 'test:e2e': 'jest --config ./test/jest-e2e.json' }, jest: JEST_11 },
  });
  OLDER_SETTINGS.forEach(([, settings], index) => {
    const both = { ...JEST_11, rootDir: '.', testRegex: 'spec\\.ts$', ...settings };
    application.write(olderSettingsPath(index), JSON.stringify(both));
  });
}

/** Where the settings with that index stand; they take the unit spec and the end-to-end spec alike. */
export function olderSettingsPath(index: number): string {
  return `jest-older-${index}.json`;
}

/** Writes an application as `nest new` of Nest 12 does for CommonJS, without what lints, formats and builds, and with a lock. */
export function writeNest12Starter(application: FreshApplication, tarball: string): void {
  writeStarter(application, tarball, {
    nestVersion: '12',
    compilerOptions: COMPILER_OPTIONS_12,
    devDependencies: {
      '@types/node': '^24.0.0',
      [NODE_24]: '^24.9.0',
      'ts-jest': '^29.4.0',
      'ts-node': '^10.9.2',
      typescript: '^6.0.2',
    },
  });
  application.write('jest.config.ts', `export default ${JSON.stringify(JEST_12)};`);
  const [asEsModules = '', compilerOptions = ''] = settingsOfThePage();
  application.write('tsconfig.spec.json', compilerOptions);
  [JEST_12, JEST_E2E].forEach((settings, index) => {
    const both = { ...settings, ...(JSON.parse(asEsModules) as object) };
    application.write(AS_ES_MODULES[index]!, JSON.stringify(both));
  });
}

interface Starter {
  readonly nestVersion: string;
  readonly compilerOptions: object;
  readonly devDependencies: Readonly<Record<string, string>>;
  readonly manifest?: object;
}

/** Writes what the starters of both versions have. */
function writeStarter(
  application: FreshApplication,
  tarball: string,
  { nestVersion, compilerOptions, devDependencies, manifest }: Starter,
): void {
  const { '@nestjs/testing': testing = '', ...dependencies } = nest(nestVersion);
  const content = {
    name: 'fresh',
    version: '0.0.1',
    private: true,
    dependencies: { ...dependencies, 'nestjs-zookeeper-lock': `file:${tarball}` },
    devDependencies: {
      '@nestjs/testing': testing,
      '@types/express': '^5.0.0',
      '@types/jest': '^30.0.0',
      '@types/supertest': '^7.0.0',
      jest: '^30.0.0',
      supertest: '^7.0.0',
      ...devDependencies,
    },
    ...manifest,
  };
  application.write('package.json', JSON.stringify(content));
  application.write('tsconfig.json', JSON.stringify({ compilerOptions }));
  application.write('src/counters.controller.ts', CONTROLLER);
  application.write('src/counters.controller.spec.ts', spec(''));
  application.write('src/app.module.ts', MODULE);
  application.write('test/app.e2e-spec.ts', E2E_SPEC);
  application.write('test/jest-e2e.json', JSON.stringify(JEST_E2E));
}

/** Those for ts-jest on a Node.js before 24.9: Jest's, and the compiler's. */
function settingsOfThePage(): string[] {
  const page = readFileSync(join(root, 'docs', 'testing.md'), 'utf8');
  return [...page.matchAll(/^```json\n([\s\S]*?)^```$/gm)].map(([, text = '']) => text);
}
