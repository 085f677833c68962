import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, openSync, readFileSync } from 'node:fs';
import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { installWithoutStarting } from '../debian-services/install.js';
import { run } from '../find-zookeeper/command.js';
import { eventually } from '../process/eventually.js';
import { folderRemoved, killWithUs } from '../process/reaper.js';
import { hasEnded, killProcess } from '../process/signals.js';
import { freePort } from '../proxy/ports.js';
import { makeWorkspace } from '../zookeeper/workspace.js';

const ADVICE =
  'The tests of the dashboard and the alerts need Prometheus. Install it (Debian: apt-get install prometheus).';
const STARTS_WITHIN_MS = 60_000;

/** Installs Debian's package, which brings both programs, where one of them is missing. */
async function need(program: 'prometheus' | 'promtool'): Promise<string> {
  if (!(await runs(program))) await installWithoutStarting(['prometheus'], ADVICE);
  if (await runs(program)) return program;
  throw new Error(`Prometheus is installed, yet ${program} does not run. ${ADVICE}`);
}

function runs(program: string): Promise<boolean> {
  return run(program, ['--version']).then(
    () => true,
    () => false,
  );
}

/** Runs promtool, and rejects with what it says where it finds a mistake. */
export async function promtool(...args: string[]): Promise<void> {
  await run(await need('promtool'), args);
}

/** One value of an answer. */
export interface Series {
  readonly metric: Readonly<Record<string, string>>;
  readonly value: number;
}

/** A Prometheus of a test's own that scrapes one application. */
export class PrometheusServer {
  constructor(
    private readonly child: ChildProcess,
    private readonly workspace: string,
    private readonly url: string,
  ) {}

  /** @throws Error with what Prometheus finds wrong with the query */
  async query(expression: string): Promise<Series[]> {
    const response = await fetch(`${this.url}/api/v1/query?query=${encodeURIComponent(expression)}`);
    const answer = (await response.json()) as {
      readonly error?: string;
      readonly data?: { readonly result: { metric: Record<string, string>; value: [number, string] }[] };
    };
    if (answer.data === undefined) throw new Error(`${expression}: ${answer.error}`);
    return answer.data.result.map(({ metric, value: [, text] }) => ({ metric, value: Number(text) }));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await killProcess(this.child);
    await rm(this.workspace, { recursive: true, force: true });
    folderRemoved(this.workspace);
  }
}

/** Starts a Prometheus that scrapes `target` (host and port) at `/metrics` four times a second, with these rules. */
export async function startPrometheus(target: string, rules: string): Promise<PrometheusServer> {
  const program = await need('prometheus');
  const workspace = await makeWorkspace();
  const port = await freePort();
  const config = join(workspace, 'prometheus.yml');
  const settings = {
    global: { scrape_interval: '250ms', scrape_timeout: '250ms', evaluation_interval: '500ms' },
    rule_files: [rules],
    scrape_configs: [{ job_name: 'application', static_configs: [{ targets: [target] }] }],
  };
  // JSON is YAML.
  await writeFile(config, JSON.stringify(settings));
  const logPath = join(workspace, 'prometheus.log');
  const log = openSync(logPath, 'a');
  const listen = `--web.listen-address=127.0.0.1:${port}`;
  const child = spawn(program, [`--config.file=${config}`, `--storage.tsdb.path=${join(workspace, 'data')}`, listen], {
    stdio: ['ignore', log, log],
  });
  closeSync(log);
  child.on('error', () => undefined);
  killWithUs(child);
  const url = `http://127.0.0.1:${port}`;
  const logTail = (): string => readFileSync(logPath, 'utf8').split('\n').slice(-20).join('\n');
  await eventually('Prometheus is ready', async () => (await fetch(`${url}/-/ready`)).ok, {
    withinMs: STARTS_WITHIN_MS,
    explain: logTail,
    giveUp: () => (hasEnded(child) ? new Error(`Prometheus has ended.\n${logTail()}`) : undefined),
  });
  return new PrometheusServer(child, workspace, url);
}
