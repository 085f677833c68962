import { execFile } from 'node:child_process';

/** Takes one line of progress, so that a person sees what is being done and why. */
export type Log = (line: string) => void;

/** Progress goes to stderr: the runner's report on stdout stays clean. */
export const logToStderr: Log = (line) => {
  process.stderr.write(`[zookeeper] ${line}\n`);
};

/** Runs a program to its end and returns what it printed; rejects with the last lines of its stderr. */
export function run(
  program: string,
  args: readonly string[],
  options: { env?: NodeJS.ProcessEnv } = {},
): Promise<string> {
  return new Promise((resolve, reject) => {
    const settings = { encoding: 'utf8' as const, maxBuffer: 64 * 1024 * 1024, env: options.env ?? process.env };
    execFile(program, args, settings, (error, stdout, stderr) => {
      if (error === null) {
        resolve(stdout);
        return;
      }
      const tail = stderr.trim().split('\n').slice(-5).join('\n');
      reject(new Error(`\`${[program, ...args].join(' ')}\` failed: ${tail || error.message}`, { cause: error }));
    });
  });
}

/** The first line of an error, for a one-line report. */
export function reasonOf(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error);
  return text.split('\n')[0] ?? text;
}
