import { CONTROLLER, type FreshApplication, nest, spec } from './fresh-application.js';

/** As the generator of Nest 11 writes it into package.json. */
const JEST = {
  moduleFileExtensions: ['js', 'json', 'ts'],
  rootDir: 'src',
  testRegex: '.*\\.spec\\.ts$',
  transform: { '^.+\\.(t|j)s$': 'ts-jest' },
  collectCoverageFrom: ['**/*.(t|j)s'],
  coverageDirectory: '../coverage',
  testEnvironment: 'node',
};

/** As the generators of Nest 11 and 12 write it into `test/jest-e2e.json`. */
export const JEST_E2E = {
  moduleFileExtensions: ['js', 'json', 'ts'],
  rootDir: '.',
  testEnvironment: 'node',
  testRegex: '.e2e-spec.ts$',
  transform: { '^.+\\.(t|j)s$': 'ts-jest' },
};

/** As the generator writes them into `tsconfig.json`. */
export const COMPILER_OPTIONS = {
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
  baseUrl: './',
  incremental: true,
  skipLibCheck: true,
  strictNullChecks: true,
  forceConsistentCasingInFileNames: true,
  noImplicitAny: true,
  strictBindCallApply: true,
  noFallthroughCasesInSwitch: true,
};

// Nobody answers at this address: the end-to-end spec passes on the stand-in or not at all.
export const MODULE = `
import { Module } from '@nestjs/common';
import { DistributedLockModule } from 'nestjs-zookeeper-lock';
import { CountersController } from './counters.controller';

@Module({ imports: [DistributedLockModule.forRoot({ connect: '127.0.0.1:1' })], controllers: [CountersController] })
export class AppModule {}
`;

export const E2E_SPEC = `
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
        '^.+\\.[tj]s$': ['ts-jest', { tsconfig: { ...COMPILER_OPTIONS, allowJs: true, declaration: false } }],
      },
      transformIgnorePatterns: ['/node_modules/(?!(?:\\.pnpm/)?nestjs-zookeeper-lock)'],
    },
  ],
  ['a transform of TypeScript alone', { transform: { '^.+\\.ts$': 'ts-jest' } }],
];

/** Writes an application as `nest new` of Nest 11 does, without what lints, formats and builds, and with a lock. */
export function writeNest11Starter(
  application: FreshApplication,
  tarball: string,
  otherDevDependencies: Readonly<Record<string, string>> = {},
): void {
  const { '@nestjs/testing': testing = '', ...dependencies } = nest('11');
  const manifest = {
    name: 'fresh',
    version: '0.0.1',
    private: true,
    scripts: { test: 'jest', 'test:e2e': 'jest --config ./test/jest-e2e.json' },
    dependencies: { ...dependencies, 'nestjs-zookeeper-lock': `file:${tarball}` },
    devDependencies: {
      '@nestjs/testing': testing,
      '@types/express': '^5.0.0',
      '@types/jest': '^30.0.0',
      '@types/node': '^20.19.0',
      '@types/supertest': '^7.0.0',
      jest: '^30.0.0',
      supertest: '^7.0.0',
      'ts-jest': '^29.2.5',
      typescript: '^5.7.3',
      ...otherDevDependencies,
    },
    jest: JEST,
  };
  application.write('package.json', JSON.stringify(manifest));
  application.write('tsconfig.json', JSON.stringify({ compilerOptions: COMPILER_OPTIONS }));
  application.write('src/counters.controller.ts', CONTROLLER);
  application.write('src/counters.controller.spec.ts', spec(''));
  application.write('src/app.module.ts', MODULE);
  application.write('test/app.e2e-spec.ts', E2E_SPEC);
  application.write('test/jest-e2e.json', JSON.stringify(JEST_E2E));
  OLDER_SETTINGS.forEach(([, settings], index) => {
    const both = { ...JEST, rootDir: '.', testRegex: 'spec\\.ts$', ...settings };
    application.write(olderSettingsPath(index), JSON.stringify(both));
  });
}

/** Where the settings with that index stand; they take the unit spec and the end-to-end spec alike. */
export function olderSettingsPath(index: number): string {
  return `jest-older-${index}.json`;
}
