import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, symlinkSync } from 'node:fs';
import { type AddressInfo, createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { installPacked, runPacked, type ScriptRun, simulatorIn } from './support/loaded-modules.js';
import { LEFTOVER, type PackedPackage, pack, root } from './support/pack.js';
import { declarationsFrom, scriptsFrom } from './support/reached-from.js';

const run = promisify(execFile);
const folder = mkdtempSync(join(tmpdir(), 'packed-'));
let packed: PackedPackage;

beforeAll(async () => {
  packed = await pack(folder);
  await run('tar', ['-xzf', packed.tarball, '-C', folder]);
  installPacked(folder);
}, 600_000);

afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** The rest of `docs` is for those who work on the package: `files` in package.json leaves it out. */
/** The README shows it from the registry's mirror, which has what the package has. */
const PICTURE = 'docs/images/dashboard.png';

const PAGES_FOR_USERS = [
  'cli.md',
  'dashboard.md',
  'development.md',
  'doctor.md',
  'fencing-objects.md',
  'fencing-stores.md',
  'fencing-transactions.md',
  'fencing.md',
  'from-redlock.md',
  'locks.md',
  'native-client.md',
  'neighbours.md',
  'observability.md',
  'production.md',
  'recipes.md',
  'recovery.md',
  'signed-tokens.md',
  'simulator.md',
  'testing.md',
  'threat-model.md',
  'with-other-decorators.md',
];

/** Our own commands, and files that are in the repository alone. */
const ABOUT_THE_REPOSITORY =
  /\bnpm (?:test\b|run (?:test|bench|simulate|demo|native:install)\b)|(?<![\w/.])(?:test\/\w+|lib|scripts|contributing)\/[\w-]+[\w./-]*|\.ci\/run/g;

/** One of the checkers among the development dependencies. */
function check(script: string, ...args: string[]): Promise<{ stdout: string }> {
  return run(process.execPath, [join(root, 'node_modules', script), ...args], { cwd: root });
}

interface Entry {
  readonly types: string;
  readonly default: string;
}

interface Conditions {
  readonly default: Entry;
  readonly require: Entry;
}

function entries(): [name: string, entry: Entry & { readonly forRequire: Entry }][] {
  const { exports } = JSON.parse(readFileSync(join(folder, 'package', 'package.json'), 'utf8')) as {
    exports: Record<string, Conditions | string>;
  };
  return Object.entries(exports).flatMap(([name, entry]) =>
    typeof entry === 'string' ? [] : [[name, { ...entry.default, forRequire: entry.require }]],
  );
}

/** As GitHub and the registry make it of a heading. */
function anchorOf(heading: string): string {
  return heading
    .toLowerCase()
    .replace(/[^\w\- ]/g, '')
    .replaceAll(' ', '-');
}

/** Whether there is such a page in the package, with such a heading. */
function leadsSomewhere(from: string, target: string): boolean {
  const [path = '', anchor] = target.split('#');
  const page = path === '' ? from : join(from, '..', path);
  if (!packed.files.includes(page)) return false;
  const headings = readFileSync(join(folder, 'package', page), 'utf8').matchAll(/^#+ (.+)$/gm);
  return anchor === undefined || [...headings].some(([, heading = '']) => anchorOf(heading) === anchor);
}

/** Bytes, unpacked, of the files whose names match. */
function sizeOf(pattern: RegExp): number {
  const matching = packed.files.filter((path) => pattern.test(path));
  return matching.reduce((sum, path) => sum + statSync(join(folder, 'package', path)).size, 0);
}

describe('the packed package', () => {
  it('holds the library, its pages, what npm always adds, and nothing else', () => {
    const elsewhere = packed.files.filter((path) => !/^(dist\/lib|dist\/cjs|docs)\//.test(path));
    const monitoring = ['monitoring/grafana-dashboard.json', 'monitoring/prometheus-rules.yml'];

    expect(elsewhere.sort()).toEqual(['CHANGELOG.md', 'LICENSE', 'README.md', ...monitoring, 'package.json']);
    expect(packed.files.filter((path) => !/\.(js|d\.ts|md|json|yml)$|LICENSE/.test(path))).toEqual([PICTURE]);
    expect(readFileSync(join(folder, 'package', 'README.md'), 'utf8')).toContain(`nestjs-zookeeper-lock/${PICTURE})`);
    expect(packed.files.filter((path) => /\.test\.|sample-app/.test(path))).toEqual([]);
    expect(packed.files.filter((path) => path.endsWith(LEFTOVER))).toEqual([]);
  });

  it('runs nothing when it is installed', () => {
    const { scripts, gypfile } = JSON.parse(readFileSync(join(folder, 'package', 'package.json'), 'utf8')) as {
      scripts: Record<string, string>;
      gypfile?: boolean;
    };
    expect(Object.keys(scripts).filter((name) => /^(?:pre|post)?install$/.test(name))).toEqual([]);
    // npm compiles a package with such a file without being told to.
    expect([gypfile, packed.files.filter((path) => path.endsWith('.gyp'))]).toEqual([undefined, []]);
  });

  it('has the pages for those who use the package, and none for those who work on it', () => {
    const pages = packed.files.flatMap((path) => /^docs\/(.*\.md)$/.exec(path)?.[1] ?? []);
    expect(pages.sort()).toEqual(PAGES_FOR_USERS);

    const ours = pages.flatMap((page) => {
      const text = readFileSync(join(folder, 'package', 'docs', page), 'utf8');
      return [...text.matchAll(ABOUT_THE_REPOSITORY)].map(([found]) => `${page}: ${found}`);
    });
    expect(ours).toEqual([]);
    // What the pattern is for: a page that stays in the repository.
    expect(readFileSync(join(root, 'CONTRIBUTING.md'), 'utf8')).toMatch(ABOUT_THE_REPOSITORY);
  });

  it('has each page to which another one leads', () => {
    const pages = packed.files.filter((path) => path.endsWith('.md'));
    const dead = pages.flatMap((page) => {
      const text = readFileSync(join(folder, 'package', page), 'utf8');
      const targets = [...text.matchAll(/\]\((?!https?:)([^)\s]+)\)/g)].map(([, target = '']) => target);
      return targets.filter((target) => !leadsSomewhere(page, target)).map((target) => `${page}: ${target}`);
    });
    expect(dead).toEqual([]);
    expect(pages).toContain('docs/locks.md');
  });

  // The registry shows the README alone, and this package has no address of a repository yet.
  it('has a README whose links lead somewhere wherever it is read', () => {
    const readme = readFileSync(join(folder, 'package', 'README.md'), 'utf8');
    const targets = [...readme.matchAll(/\]\(([^)\s]+)\)/g)].map(([, target = '']) => target);
    const named = [...readme.matchAll(/`(docs\/[\w-]+\.md)`/g)].map(([, page = '']) => page);

    expect(targets.filter((target) => !/^https:|^#/.test(target))).toEqual([]);
    expect(targets.length).toBeGreaterThan(10);
    expect(named.filter((page) => !packed.files.includes(page))).toEqual([]);
    const pages = packed.files.filter((path) => path.startsWith('docs/')).map((path) => path.slice('docs/'.length));
    expect(pages.filter((page) => !readme.includes(page))).toEqual([]);
  });

  it('is code for the most part: the scripts say what they do by themselves, and need no maps', () => {
    const scripts = sizeOf(/\.js$/);

    expect(scripts).toBeGreaterThan(500_000);
    // The second build has no comments.
    expect(sizeOf(/^dist\/cjs\//)).toBeLessThan(sizeOf(/^dist\/lib\/.*\.js$/));
    expect(sizeOf(/\.(map|ts)$/)).toBeLessThan(scripts);
    expect(sizeOf(/./)).toBeLessThan(2 * scripts);
    const root = entries().find(([name]) => name === '.');
    const loaded = [...scriptsFrom(join(folder, 'package', root?.[1].default ?? '')).values()].join('\n');
    expect(loaded).toContain('Creates a lock service without Nest');
    expect(loaded).not.toContain('sourceMappingURL');
  });

  it('loads nothing of the ensemble in memory with any entry but /testing and /simulator', () => {
    for (const [name, entry] of entries()) {
      const scripts = [...scriptsFrom(join(folder, 'package', entry.default)).keys()];
      const loads = simulatorIn(scripts).length > 0;
      expect({ name, loads }).toEqual({ name, loads: name === './testing' || name === './simulator' });
    }
  });

  describe('as it runs', () => {
    let silent: Server;

    beforeAll(async () => {
      silent = createServer((socket) => socket.on('error', () => undefined)).listen(0, '127.0.0.1');
      await once(silent, 'listening');
    });

    afterAll(() => void silent.close());

    /** Asks for a lock at this address, or of what stands in for it. */
    const askFor = (options: object): Promise<ScriptRun> =>
      runPacked(
        folder,
        `import { createLockService } from 'nestjs-zookeeper-lock';
        const locks = await createLockService(${JSON.stringify({ startup: 'lazy', ...options })});
        await locks.withLock('/a', ({ scope }) => console.log(scope), { waitMs: 300 }).catch(({ code }) => console.log(code));
        await locks.close(0);`,
      );
    const address = (): string => `127.0.0.1:${(silent.address() as AddressInfo).port}`;
    const paths = (loaded: readonly string[]): string[] => loaded.map((path) => join(folder, 'package', path));

    it('loads in production no module that has anything of the simulator', async () => {
      const { stdout, loaded } = await askFor({ connect: address() });

      expect(stdout).toBe('LOCK_UNAVAILABLE\n');
      expect(loaded).toContain('dist/lib/index.js');
      expect(loaded.length).toBeLessThan(15);
      expect(loaded.filter((path) => path.startsWith('dist/cjs'))).toEqual([]);
      expect(simulatorIn(paths(loaded))).toEqual([]);
    });

    it.each([
      `import { createLockService } from 'nestjs-zookeeper-lock';`,
      `import { createRequire } from 'node:module';
      const { createLockService } = createRequire(process.cwd() + '/package/dist/cjs/')('./index.js');`,
    ])('says at the start how to get the package for Kerberos: %s', async (beginning) => {
      const { stdout } = await runPacked(
        folder,
        `${beginning}
        const options = { connect: '${address()}', auth: { scheme: 'kerberos' } };
        await createLockService(options).catch(({ code, details }) => console.log(code, details));`,
      );

      expect(stdout).toBe(
        `LOCK_CONFIGURATION auth: ${address()}: auth.scheme 'kerberos' needs the package kerberos: npm install kerberos\n`,
      );
    });

    it('serves the same dashboard from both builds, its files and the drawing included', async () => {
      for (const peer of ['@nestjs/platform-express', '@dagrejs'])
        symlinkSync(join(root, 'node_modules', peer), join(folder, 'node_modules', peer), 'junction');
      const builds = [
        `import * as root from 'nestjs-zookeeper-lock'; import * as dashboard from 'nestjs-zookeeper-lock/dashboard';`,
        `import { createRequire } from 'node:module';
        const load = createRequire(process.cwd() + '/package/dist/cjs/');
        const [root, dashboard] = [load('./index.js'), load('./extras/dashboard/index.js')];`,
      ];
      const runs = builds.map((beginning) =>
        runPacked(
          folder,
          `import 'reflect-metadata'; import { Module } from '@nestjs/common'; import { NestFactory } from '@nestjs/core';
          ${beginning}
          const connection = root.DistributedLockModule.forRoot({ connect: 'memory:', memory: { allowInProduction: true } });
          class App {}
          Module({ imports: [connection, dashboard.LockDashboardModule.forRoot({ path: 'ops', unsafe: true })] })(App);
          const app = await NestFactory.create(App, { logger: false });
          await app.listen(0, '127.0.0.1');
          const locks = app.get(root.LockService);
          const lock = await locks.acquire('/a');
          const next = locks.acquire('/a');
          while ((await locks.inspect('/a')).queueLength === 0);
          const text = async (path) => (await fetch(await app.getUrl() + '/ops/' + path)).text();
          const files = (await text('list')).match(/assets.dashboard-[0-9a-f]+.(css|js)/g);
          console.log(files.join(), (await text(files[0])).length, (await text(files[1])).length, (await text('graph')).includes('class="graph'));
          await lock.release();
          await (await next).release();
          await app.close();`,
        ),
      );
      const [one, other] = await Promise.all(runs);
      expect(one?.stdout).toMatch(/^assets\S+\.css,assets\S+\.js \d{4,} \d{4,} true\n$/);
      expect(other?.stdout).toBe(one?.stdout);
    });

    it('replays a seed of its simulator in another process, and in the other build', async () => {
      const builds = [
        `import { LockSimulator } from 'nestjs-zookeeper-lock/simulator';`,
        `import { createRequire } from 'node:module';
        const { LockSimulator } = createRequire(process.cwd() + '/package/dist/cjs/')('./extras/simulator/index.js');`,
      ];
      const runs = builds.map((beginning) =>
        runPacked(
          folder,
          `${beginning}
          const messages = [];
          const simulator = new LockSimulator({ seed: 1, servers: 3, trace: (line) => messages.push(line) });
          await simulator.run(async () => {
            const clients = ['a', 'b'].map((name) => simulator.client(name));
            simulator.plan([{ atMs: simulator.random() * 900, fault: 'restartServer', with: [1] }]);
            await Promise.all(clients.map(({ locks }) => locks.withLock('/a', () => simulator.sleep(500))));
          });
          await simulator.close();
          console.log(messages.length + '\\n' + messages.join('\\n'));`,
        ),
      );
      const [one, other] = await Promise.all(runs);
      expect(Number(one?.stdout.split('\n')[0])).toBeGreaterThan(50);
      expect(other?.stdout).toBe(one?.stdout);
    });

    it.each([
      ['memory: is connected to', { connect: 'memory:', memory: { allowInProduction: true } }, 'fleet\n'],
      ['locks of the process are to stand in', { connect: '127.0.0.1:1', whenUnavailable: 'local' }, 'process\n'],
    ])('loads the simulator, and all of it that it needs, where %s', async (_when, options, expected) => {
      const { stdout, loaded } = await askFor(options);

      expect(stdout).toBe(expected);
      expect(simulatorIn(paths(loaded))).toContain('class EmbeddedEnsemble');
    });
  });

  describe('its command', () => {
    let elsewhere: string;

    beforeAll(() => {
      elsewhere = mkdtempSync(join(folder, 'elsewhere-'));
    });

    /** As somebody has it who installs nothing. The peers, which npx would fetch, are above the folder in which it works. */
    const npx = (...args: string[]): Promise<{ stdout: string; stderr: string }> =>
      run('npx', ['--yes', '--offline', '--legacy-peer-deps', '-p', packed.tarball, 'zk-lock', ...args], {
        cwd: elsewhere,
        env: { ...process.env, npm_config_cache: join(folder, 'npx-cache'), ZK_LOCK_CONNECT: '' },
      });

    it('is found by npx in the tarball, and says how it is used', async () => {
      const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string };
      const help = await npx('--help');
      expect(help.stdout).toMatch(/^Usage: npx -p nestjs-zookeeper-lock zk-lock COMMAND \[options\]$/m);
      expect(help.stdout.split('\n').filter((line) => line.length > 80)).toEqual([]);
      expect(await npx('--version')).toMatchObject({ stdout: `${version}\n` });
      expect(await npx('run', '--help')).toMatchObject({ stdout: expect.stringContaining('ZK_LOCK_TOKEN') });
    });

    it('ends with its exit codes, and with a sentence in place of a stack trace', async () => {
      const refused = (error: { code: number; stdout: string; stderr: string }) => error;
      const unnamed = await npx('ls').then(() => undefined, refused);
      expect(unnamed).toMatchObject({
        code: 2,
        stdout: '',
        stderr: expect.stringMatching(/^zk-lock: which servers\? .*\n$/m),
      });
      const away = await npx('ls', '--connect', '127.0.0.1:1', '--connect-timeout', '200ms').then(
        () => undefined,
        refused,
      );
      expect(away).toMatchObject({ code: 3, stdout: '', stderr: expect.stringMatching(/^zk-lock: .*127\.0\.0\.1:1/m) });
      expect(away!.stderr).not.toMatch(/^ +at /m);
    });
  });

  // What an import takes goes by the number of files more than by what is in them.
  it('loads few files with its root', () => {
    const root = entries().find(([name]) => name === '.');
    expect(scriptsFrom(join(folder, 'package', root?.[1].default ?? '')).size).toBeLessThan(15);
  });

  it('has every file that its exports name, and resolves each for the old resolver too', () => {
    const { typesVersions } = JSON.parse(readFileSync(join(folder, 'package', 'package.json'), 'utf8')) as {
      typesVersions: { '*': Record<string, string[]> };
    };
    for (const [name, entry] of entries()) {
      const { types, forRequire } = entry;
      for (const file of [types, entry.default, forRequire.types, forRequire.default])
        expect(packed.files).toContain(file.slice('./'.length));
      if (name !== '.') expect(typesVersions['*'][name.slice('./'.length)]).toEqual([entry.types]);
    }
    expect(entries().map(([name]) => name)).toEqual(
      expect.arrayContaining([
        '.',
        './dashboard',
        './doctor',
        './fencing',
        './grpc',
        './metrics',
        './simulator',
        './terminus',
        './testing',
      ]),
    );
  });

  it('has nothing that publint would tell', async () => {
    const { stdout } = await check('publint/src/cli.js', 'run', packed.tarball, '--strict');

    expect(stdout).toContain('All good!');
  });

  it('has types that every resolver of ESM finds', async () => {
    const { stdout } = await check(
      '@arethetypeswrong/cli/dist/index.js',
      packed.tarball,
      '--profile',
      'esm-only',
      '--no-color',
      '--format',
      'ascii',
    );

    // A problem that counts is an exit status, which `check` throws.
    for (const [name] of entries()) expect(stdout).toContain(name.replace(/^\./, 'nestjs-zookeeper-lock'));
    expect(stdout.match(/^(?:node16 \(from ESM\)|bundler): 🟢/gm)).toHaveLength(2 * (entries().length + 1));
  });

  it('mentions no optional peer in the types of its root', () => {
    const { peerDependenciesMeta } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
      peerDependenciesMeta: Record<string, object>;
    };
    const rootEntry = entries().find(([name]) => name === '.');
    const declarations = declarationsFrom(join(folder, 'package', rootEntry?.[1].types ?? ''));
    expect(declarations.size).toBeGreaterThan(10);
    for (const [path, text] of declarations) {
      for (const peer of Object.keys(peerDependenciesMeta)) {
        // The name of a peer may be the value of an option.
        const imported = [`from '${peer}'`, `from "${peer}"`, `import('${peer}')`, `import("${peer}")`];
        expect({ path, mentions: imported.some((part) => text.includes(part)) }).toEqual({ path, mentions: false });
      }
    }
  });

  it('can be required: no module of it awaits at its top level', () => {
    const lib = join(folder, 'package', 'dist', 'lib');
    const scripts = readdirSync(lib, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.js'));
    const awaiting = scripts.filter((name) =>
      /^(?:await |(?:export )?const .*= await )/m.test(readFileSync(join(lib, name), 'utf8')),
    );

    expect(scripts.length).toBeGreaterThan(5);
    expect(awaiting).toEqual([]);
  });
});
