import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { CONTROLLER, type FreshApplication, nest, spec } from './fresh-application.js';
import { E2E_SPEC, JEST_E2E, MODULE } from './nest-11-starter.js';
import { root } from './pack.js';

/** As the generator of Nest 12 writes it for CommonJS, without what reads path aliases. */
const JEST = {
  moduleFileExtensions: ['js', 'json', 'ts'],
  rootDir: '.',
  testRegex: '.*\\.spec\\.ts$',
  transform: { '^.+\\.(t|j)s$': 'ts-jest' },
  testEnvironment: 'node',
};

/** As the generator writes them into `tsconfig.json`. */
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
  types: ['node', 'jest'],
  sourceMap: true,
  outDir: './dist',
  rootDir: '.',
  incremental: true,
  skipLibCheck: true,
  strict: true,
  strictPropertyInitialization: false,
};

/** The first Node.js whose modules Jest can `require` where they are ES modules; where a platform has no such package, npm fails. */
const NODE_24 = `node-${process.platform}-${process.arch}`;

/** Where the application has it. */
export const NODE_24_PATH = `node_modules/${NODE_24}/bin/node`;

/** What the scripts of the starter run Jest with. */
export const JEST_OF_THE_SCRIPTS = ['--experimental-vm-modules', './node_modules/jest/bin/jest.js'];

/** Of both configurations, of unit tests and of end-to-end ones, what stands in the page about testing. */
export const AS_ES_MODULES = ['jest.esm.json', './test/jest-e2e.esm.json'];

/** Writes an application as `nest new` of Nest 12 does for CommonJS, without what lints, formats and builds, and with a lock. */
export function writeNest12Starter(application: FreshApplication, tarball: string): void {
  const { '@nestjs/testing': testing = '', ...dependencies } = nest('12');
  const manifest = {
    name: 'fresh',
    version: '0.0.1',
    private: true,
    dependencies: { ...dependencies, 'nestjs-zookeeper-lock': `file:${tarball}` },
    devDependencies: {
      '@nestjs/testing': testing,
      '@types/express': '^5.0.0',
      '@types/jest': '^30.0.0',
      '@types/node': '^24.0.0',
      '@types/supertest': '^7.0.0',
      jest: '^30.0.0',
      [NODE_24]: '^24.9.0',
      supertest: '^7.0.0',
      'ts-jest': '^29.4.0',
      'ts-node': '^10.9.2',
      typescript: '^6.0.2',
    },
  };
  const [asEsModules = '', compilerOptions = ''] = settingsOfThePage();
  const write = (path: string, content: object) => application.write(path, JSON.stringify(content));
  write('package.json', manifest);
  write('tsconfig.json', { compilerOptions: COMPILER_OPTIONS });
  application.write('tsconfig.spec.json', compilerOptions);
  application.write('jest.config.ts', `export default ${JSON.stringify(JEST)};`);
  write('test/jest-e2e.json', JEST_E2E);
  [JEST, JEST_E2E].forEach((settings, index) => {
    write(AS_ES_MODULES[index]!, { ...settings, ...(JSON.parse(asEsModules) as object) });
  });
  application.write('src/counters.controller.ts', CONTROLLER);
  application.write('src/counters.controller.spec.ts', spec(''));
  application.write('src/app.module.ts', MODULE);
  application.write('test/app.e2e-spec.ts', E2E_SPEC);
}

/** Those for ts-jest on a Node.js before 24.9: Jest's, and the compiler's. */
function settingsOfThePage(): string[] {
  const page = readFileSync(join(root, 'docs', 'testing.md'), 'utf8');
  return [...page.matchAll(/^```json\n([\s\S]*?)^```$/gm)].map(([, text = '']) => text);
}
