/**
 * How long a test may take is told by its file's name: `npm test` runs neither `*.long.test.ts`, which `npm run test:long` runs,
 * nor `*.full.test.ts`, which `npm run test:full` runs beside all others.
 */
const lengths = (process.env.TEST_LENGTHS ?? 'short').split(',');
const NAMED_LENGTHS = ['long', 'full'];

/** Patterns of the files whose length was not asked for. */
const otherLengths = [
  ...NAMED_LENGTHS.filter((length) => !lengths.includes(length)).map((length) => `\\.${length}\\.test\\.ts$`),
  ...(lengths.includes('short') ? [] : [`(?<!\\.(${NAMED_LENGTHS.join('|')}))\\.test\\.ts$`]),
];

/** Only root may raise the priority of a process again, which a worker does behind a file that computes. */
const canGiveWay = process.getuid?.() === 0;

/** A project is one folder of `test/`; its name is what `--selectProjects` takes. */
function project(name, settings = {}) {
  return {
    displayName: name,
    rootDir: '.',
    roots: [`<rootDir>/test/${name}`],
    testMatch: ['**/*.test.ts'],
    testPathIgnorePatterns: ['/node_modules/', ...otherLengths],
    extensionsToTreatAsEsm: ['.ts'],
    setupFiles: canGiveWay ? ['<rootDir>/test/support/progress/priority.js'] : [],
    moduleFileExtensions: ['ts', 'js', 'mjs', 'cjs', 'json', 'node'],
    moduleNameMapper: {
      '^nestjs-zookeeper-lock$': '<rootDir>/lib/index.ts',
      '^nestjs-zookeeper-lock/fencing$': '<rootDir>/lib/fencing/index.ts',
      '^nestjs-zookeeper-lock/(.*)$': '<rootDir>/lib/extras/$1/index.ts',
      // TypeScript's ESM imports name the file that will exist after compilation.
      '^(\\.{1,2}/.*)\\.js$': '$1',
    },
    transform: {
      '^.+\\.ts$': [
        '@swc/jest',
        {
          jsc: {
            target: 'es2022',
            parser: { syntax: 'typescript', decorators: true },
            transform: { legacyDecorator: true, decoratorMetadata: true },
          },
        },
      ],
    },
    ...settings,
  };
}

/** Needs a ZooKeeper: found once, before the first test of any of these projects. */
const withZooKeeper = {
  globalSetup: '<rootDir>/test/support/find-zookeeper/global-setup.js',
  globalTeardown: '<rootDir>/test/support/find-zookeeper/global-teardown.js',
};

/** Its files compute for as long as they run; all others wait for servers, sessions and processes most of the time. */
const computing = { globals: { COMPUTES: true } };

/** Needs clients of other makes besides; its tests have servers of their own. */
const withNeighbours = { globalSetup: '<rootDir>/test/support/neighbours/global-setup.js' };

export default {
  projects: [
    project('unit', computing),
    project('simulation', computing),
    project('package', computing),
    project('contract', withZooKeeper),
    project('integration', withZooKeeper),
    project('e2e', withZooKeeper),
    project('interop', withNeighbours),
    // The suite that insists on a container; `scripts/testcontainers` makes sure that there is one.
    ...(process.env.TEST_TESTCONTAINERS === '1' ? [project('testcontainers', withZooKeeper)] : []),
  ],
  // One that computes runs beside three that wait for servers; with more of them the machine decides what is in time.
  testSequencer: '<rootDir>/test/support/progress/sequencer.js',
  maxWorkers: canGiveWay ? 4 : 3,
  reporters: ['default', '<rootDir>/test/support/progress/reporter.js'],
  // Node keeps the modules of every test file that a worker has run: 10 to 40 MB each. In a heap of a gigabyte each collection of
  // garbage takes so long that a file which computes for 7 s takes 40. So a worker makes room for a new one between two files.
  workerIdleMemoryLimit: '300MB',
  // A worker may take a busy machine longer to end than Jest's 500 ms: Jest would say that tests left something open, though
  // nothing was. What really stays open is told when this has passed.
  workerGracefulExitTimeout: 30_000,
  testTimeout: 60_000,
};
