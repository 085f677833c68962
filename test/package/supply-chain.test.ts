import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';

const ROOT = join(import.meta.dirname, '..', '..');
const INSTALL_SCRIPTS = ['preinstall', 'install', 'postinstall'];

interface Package {
  readonly hasInstallScript?: boolean;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
  readonly peerDependencies?: Readonly<Record<string, string>>;
  readonly peerDependenciesMeta?: Readonly<Record<string, { readonly optional?: boolean }>>;
}

function read(path: string): string {
  return readFileSync(join(ROOT, path), 'utf8');
}

const manifest = JSON.parse(read('package.json')) as Package & { readonly scripts: Readonly<Record<string, string>> };
const locked = (JSON.parse(read('package-lock.json')) as { packages: Readonly<Record<string, Package>> }).packages;

/** What npm installs along with a package: its dependencies, and the peers that it needs. */
function needed({
  dependencies,
  optionalDependencies,
  peerDependencies = {},
  peerDependenciesMeta,
}: Package): string[] {
  const peers = Object.keys(peerDependencies).filter((name) => peerDependenciesMeta?.[name]?.optional !== true);
  return [...Object.keys({ ...dependencies, ...optionalDependencies }), ...peers];
}

/** Where the lock file has a package that another one asks for: the nearest `node_modules` upwards. */
function placeOf(name: string, from: string): string | undefined {
  for (let folder = from; ; folder = folder.slice(0, Math.max(0, folder.lastIndexOf('node_modules/') - 1))) {
    const place = `${folder === '' ? '' : `${folder}/`}node_modules/${name}`;
    if (locked[place] !== undefined) return place;
    if (folder === '') return undefined;
  }
}

/** Everything that an application without optional peers gets by installing this package. */
function defaultInstall(): string[] {
  const places = new Set<string>();
  const add = (from: string, one: Package): void => {
    for (const name of needed(one)) {
      const place = placeOf(name, from);
      if (place === undefined) throw new Error(`The lock file has no ${name}, which ${from} needs.`);
      if (places.has(place)) continue;
      places.add(place);
      add(place, locked[place]!);
    }
  };
  add('', { ...manifest });
  return [...places];
}

describe('What an application installs with this package', () => {
  it('runs no script: neither of its own, nor of a dependency', () => {
    const places = defaultInstall();
    expect(INSTALL_SCRIPTS.filter((name) => name in manifest.scripts)).toEqual([]);
    expect(places).toEqual(expect.arrayContaining(['node_modules/@nestjs/core', 'node_modules/tslib']));
    expect(places.filter((place) => locked[place]?.hasInstallScript === true)).toEqual([]);
    // What the check is for is in the lock file: development dependencies have such scripts.
    expect(Object.values(locked).some(({ hasInstallScript }) => hasInstallScript === true)).toBe(true);
  });

  it('is the package, and the peers that an application on Nest has anyway', () => {
    expect({ ...manifest.dependencies, ...manifest.optionalDependencies }).toEqual({});
    const required = needed(manifest).sort();
    expect(required).toEqual(['@nestjs/common', '@nestjs/core', 'reflect-metadata', 'rxjs']);
  });
});

describe('The workflow of a release', () => {
  const workflow = read('.github/workflows/release.yml');
  const jobs = workflow.slice(workflow.indexOf('\njobs:')).split(/\n {2}(?=\w+:\n)/);

  it('lets only the job that publishes ask for an identity, and that one runs nothing else', () => {
    const identified = jobs.filter((job) => job.includes('id-token: write'));
    expect(identified.map((job) => job.slice(0, job.indexOf(':')))).toEqual(['publish']);
    const runs = [...(identified[0]?.matchAll(/- run: (.*)/g) ?? [])].map(([, command]) => command);
    expect(runs).toEqual(['npm publish ./*.tgz --provenance --access public --ignore-scripts']);
    expect(workflow).toContain('\npermissions: {}\n');
  });

  it('has no secret, and names the exact release of each action', () => {
    expect(workflow).not.toMatch(/secrets\.|NODE_AUTH_TOKEN|NPM_TOKEN/);
    const uses = [...workflow.matchAll(/uses: (\S+)/g)].map(([, action = '']) => action);
    expect(uses.length).toBeGreaterThan(5);
    expect(uses.filter((action) => !/^actions\/[\w-]+@(?:v\d+\.\d+\.\d+|[0-9a-f]{40})$/.test(action))).toEqual([]);
  });
});

describe('The check of a release', () => {
  const ADDRESS = 'https://github.com/example/nestjs-zookeeper-lock';
  let folder: string;

  beforeEach(() => void (folder = mkdtempSync(join(tmpdir(), 'release-'))));
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  async function complaints(tag: string, more: object, changes: string): Promise<string[]> {
    writeFileSync(join(folder, 'package.json'), JSON.stringify({ type: 'module', version: '1.2.3', ...more }));
    writeFileSync(join(folder, 'CHANGELOG.md'), changes);
    const script = join(ROOT, 'scripts', 'check-release.js');
    const run = promisify(execFile)(process.execPath, [script, tag, ADDRESS], { cwd: folder });
    const { stderr } = await run.catch((error: { stderr: string }) => error);
    return stderr.split('\n').filter((line) => line !== '');
  }

  it('passes what fits together', async () => {
    const repository = { type: 'git', url: `git+${ADDRESS}.git` };
    expect(await complaints('v1.2.3', { repository }, '# Changelog\n\n## 1.2.3 (2027-01-01)\n')).toEqual([]);
  });

  it('tells everything that does not', async () => {
    const told = await complaints('v1.2.4', { scripts: { postinstall: 'x' } }, '# Changelog\n\n## Unreleased\n');
    expect(told).toEqual([
      'The tag is v1.2.4, but package.json has the version 1.2.3: tag v1.2.3.',
      expect.stringContaining(`must have "repository": "git+${ADDRESS}.git", not undefined`),
      expect.stringContaining('CHANGELOG.md has no section "## 1.2.3"'),
      expect.stringContaining('must have no script "postinstall"'),
    ]);
  });
});
