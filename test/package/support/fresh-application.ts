import { execFile, spawn } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { promisify, stripVTControlCharacters } from 'node:util';

const run = promisify(execFile);

/** Takes a lock for each request, and answers with its token. */
export const CONTROLLER = `
import { Controller, Param, Post } from '@nestjs/common';
import { Fence, injected, Locked } from 'nestjs-zookeeper-lock';

@Controller('counters')
export class CountersController {
  @Locked('/counters/:name')
  @Post(':name')
  async count(@Param('name') name: string, @Fence() token: bigint = injected()): Promise<{ name: string; token: string }> {
    return { name, token: String(token) };
  }
}
`;

const main = (extension: string) => `
import 'reflect-metadata';
import { Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { DistributedLockModule } from 'nestjs-zookeeper-lock';
import { CountersController } from './counters.controller${extension}';

@Module({ imports: [DistributedLockModule.forRoot({ connect: 'memory:' })], controllers: [CountersController] })
class AppModule {}

async function start(): Promise<void> {
  const app = await NestFactory.create(AppModule, { logger: ['error'] });
  app.enableShutdownHooks();
  await app.listen(0, '127.0.0.1');
  console.log(await app.getUrl());
}
void start();
`;

/** Closes no module, as the specs of Nest's starter. */
export const spec = (extension: string) => `
import 'reflect-metadata';
import { Test } from '@nestjs/testing';
import { LockTesting, provideLockTesting } from 'nestjs-zookeeper-lock/testing';
import { CountersController } from './counters.controller${extension}';

test('the counter has a token, and gives up when somebody else counts', async () => {
  const module = await Test.createTestingModule({
    controllers: [CountersController],
    providers: provideLockTesting({ waitMs: 50 }),
  }).compile();
  const counters = module.get(CountersController);
  expect(BigInt((await counters.count('a')).token) > 0n).toBe(true);

  await module.get(LockTesting).makeBusy('/counters/a');
  await expect(counters.count('a')).rejects.toMatchObject({ code: 'LOCK_TIMEOUT' });
  // The module stays open, as in the specs of Nest's starter: the runner ends nevertheless.
});
`;

/** An application as its own authors would have it: their Nest, their kind of modules, their test runner. */
export interface Recipe {
  readonly manifest: object;
  readonly compilerOptions: object;
  /** How a relative import ends. */
  readonly extension: '' | '.js';
  /** A file of the same path as one of its own takes its place. */
  readonly otherFiles?: Readonly<Record<string, string>>;
}

/** As Nest's own starter for ES modules has it, but for the plugin for path aliases. */
const VITEST_CONFIG = `
import { defineConfig } from 'vitest/config';

export default defineConfig({ test: { globals: true, root: './', include: ['**/*.spec.ts'] } });
`;

export const NEST_12_ESM: Recipe = {
  extension: '.js',
  manifest: {
    type: 'module',
    scripts: { test: 'vitest run' },
    dependencies: nest('12'),
    devDependencies: { '@types/node': '^20.19.0', typescript: '~6.0.3', vitest: '^4.1.2' },
  },
  compilerOptions: {
    module: 'NodeNext',
    moduleResolution: 'NodeNext',
    isolatedModules: true,
    types: ['vitest/globals', 'node'],
  },
  otherFiles: { 'vitest.config.ts': VITEST_CONFIG },
};

const SWC_OPTIONS = {
  jsc: {
    target: 'es2022',
    parser: { syntax: 'typescript', decorators: true },
    transform: { legacyDecorator: true, decoratorMetadata: true },
  },
  module: { type: 'commonjs' },
};

/** Jest's own `require` loads no ES modules, which Nest is since its version 12. The same line serves pnpm's layout. */
const LINE_OF_THE_PAGE = '/node_modules/(?!(\\.pnpm/|@nestjs/))';

export const NEST_11_COMMON_JS: Recipe = {
  extension: '',
  manifest: {
    scripts: { test: 'jest' },
    dependencies: nest('11'),
    devDependencies: {
      '@types/jest': '^30.0.0',
      '@types/node': '^20.19.0',
      jest: '^30.5.0',
      'ts-jest': '^29.4.0',
      typescript: '~5.9.0',
    },
    jest: {
      rootDir: 'src',
      testRegex: '\\.spec\\.ts$',
      testEnvironment: 'node',
      transform: { '^.+\\.(t|j)s$': 'ts-jest' },
    },
  },
  // The resolver that knows no `exports`.
  compilerOptions: { module: 'CommonJS', moduleResolution: 'node10', esModuleInterop: true },
};

export const NEST_12_COMMON_JS: Recipe = {
  extension: '',
  manifest: {
    scripts: { test: 'jest' },
    dependencies: nest('12'),
    devDependencies: {
      '@swc/core': '^1.16.0',
      '@swc/jest': '^0.2.39',
      '@types/jest': '^30.0.0',
      '@types/node': '^20.19.0',
      jest: '^30.5.0',
      typescript: '~6.0.3',
    },
    jest: {
      rootDir: 'src',
      testRegex: '\\.spec\\.ts$',
      testEnvironment: 'node',
      transform: { '^.+\\.(t|j)s$': ['@swc/jest', SWC_OPTIONS] },
      transformIgnorePatterns: [LINE_OF_THE_PAGE],
    },
  },
  compilerOptions: { module: 'NodeNext', moduleResolution: 'NodeNext', isolatedModules: true },
};

/** The packages of Nest that every application here has, of that major version. */
export function nest(major: string): Record<string, string> {
  const names = ['common', 'core', 'platform-express', 'testing'];
  return {
    ...Object.fromEntries(names.map((name) => [`@nestjs/${name}`, `^${major}.0.1`])),
    'reflect-metadata': '^0.2.2',
    rxjs: '^7.8.1',
  };
}

export class FreshApplication {
  constructor(readonly folder: string) {}

  /** Writes it, installs it with the packed library, and compiles it. */
  async make({ manifest, compilerOptions, extension, otherFiles = {} }: Recipe, tarball: string): Promise<void> {
    this.write('package.json', JSON.stringify({ name: 'fresh', version: '1.0.0', private: true, ...manifest }));
    this.write(
      'tsconfig.json',
      JSON.stringify({
        compilerOptions: {
          target: 'ES2022',
          rootDir: 'src',
          outDir: 'dist',
          strict: true,
          skipLibCheck: true,
          types: ['node', 'jest'],
          experimentalDecorators: true,
          emitDecoratorMetadata: true,
          ...compilerOptions,
        },
        include: ['src'],
      }),
    );
    this.write('src/counters.controller.ts', CONTROLLER);
    this.write('src/main.ts', main(extension));
    this.write('src/counters.controller.spec.ts', spec(extension));
    for (const [path, text] of Object.entries(otherFiles)) this.write(path, text);
    await this.run('npm', 'install', '--no-audit', '--no-fund', '--no-package-lock', tarball);
    await this.run(process.execPath, 'node_modules/typescript/bin/tsc', '-p', '.');
  }

  /** Of an installed package; undefined where it is not installed. */
  versionOf(name: string): string | undefined {
    const manifest = join(this.folder, 'node_modules', name, 'package.json');
    if (!existsSync(manifest)) return undefined;
    return (JSON.parse(readFileSync(manifest, 'utf8')) as { version: string }).version;
  }

  write(path: string, text: string): void {
    mkdirSync(dirname(join(this.folder, path)), { recursive: true });
    writeFileSync(join(this.folder, path), text);
  }

  /** @throws with all that the command wrote, where it fails */
  async run(command: string, ...args: string[]): Promise<string> {
    const environment = { ...process.env, NODE_OPTIONS: '' };
    try {
      const { stdout, stderr } = await run(command, args, { cwd: this.folder, env: environment });
      return stripVTControlCharacters(stdout + stderr);
    } catch (error) {
      const { stdout = '', stderr = '' } = error as { stdout?: string; stderr?: string };
      throw new Error(`${command} ${args.join(' ')} failed:\n${stdout}\n${stderr}`, { cause: error });
    }
  }

  /** Starts it, asks it as often as there are paths, and ends it as an operator does. */
  async serve(paths: readonly string[]): Promise<Record<string, string>[]> {
    const child = spawn(process.execPath, ['dist/main.js'], {
      cwd: this.folder,
      stdio: ['ignore', 'pipe', 'inherit'],
      env: { ...process.env, NODE_OPTIONS: '' },
    });
    const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()));
    try {
      const url = await new Promise<string>((resolve, reject) => {
        createInterface(child.stdout).once('line', resolve);
        child.once('exit', (code) => reject(new Error(`The application ended with ${code} before it listened`)));
      });
      const answers: Record<string, string>[] = [];
      for (const path of paths) {
        const response = await fetch(`${url}${path}`, { method: 'POST' });
        answers.push((await response.json()) as Record<string, string>);
      }
      child.kill('SIGTERM');
      await ended;
      return answers;
    } finally {
      child.kill('SIGKILL');
    }
  }
}
