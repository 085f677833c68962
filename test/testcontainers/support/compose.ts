import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** The answer of an application in a container to a request that was sent inside that container. */
export interface Answer {
  readonly status: number;
  readonly text: string;
}

/** A project of Docker Compose, from the `compose.yaml` in a folder; scripts/testcontainers says what runs Compose. */
export class ComposeProject {
  constructor(
    private readonly folder: string,
    private readonly name: string,
  ) {}

  /** @throws with what the command wrote, where it fails */
  async compose(...args: string[]): Promise<string> {
    const [command = 'docker', ...before] = (process.env['COMPOSE'] ?? 'docker compose').split(' ');
    const all = [...before, '--ansi', 'never', '--progress', 'quiet', '--project-name', this.name, ...args];
    const { stdout } = await run(command, all, { cwd: this.folder });
    return stdout;
  }

  /** What `bash -c` writes in the container of a service. */
  bash(service: string, script: string): Promise<string> {
    return this.compose('exec', '-T', service, 'bash', '-c', script);
  }

  async ask(service: string, method: 'GET' | 'POST', path: string): Promise<Answer> {
    const url = `http://127.0.0.1:3000${path}`;
    const script = `fetch('${url}', { method: '${method}' }).then(async (answer) =>
      console.log(JSON.stringify({ status: answer.status, text: await answer.text() })))`;
    return JSON.parse(await this.compose('exec', '-T', service, 'node', '-e', script)) as Answer;
  }

  /** 'leader', 'follower' or 'standalone'; undefined while it does not serve. */
  async roleOf(service: string): Promise<string | undefined> {
    const answer = await this.bash(service, 'exec 3<>/dev/tcp/127.0.0.1/2181; echo srvr >&3; cat <&3');
    return /^Mode: (.*)$/m.exec(answer)?.[1];
  }

  /** The exit code of a service's container; undefined while it runs. */
  async exitCodeOf(service: string): Promise<number | undefined> {
    const line = await this.compose('ps', '--all', '--format', 'json', service);
    const { State, ExitCode } = JSON.parse(line) as { State: string; ExitCode: number };
    return State === 'exited' ? ExitCode : undefined;
  }
}
