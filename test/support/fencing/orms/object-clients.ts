import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { run } from '../../find-zookeeper/command.js';
import { compile, snippetsOf } from '../../snippets/snippets.js';
import { TYPESCRIPT_FLAGS } from '../../typescript/flags.js';

const PAGE = 'docs/fencing-objects.md';

/** A client of an object store that the page shows, and how an application makes it. */
export interface ShownClient {
  readonly name: string;
  /** The function of the snippet. */
  readonly shown: string;
  readonly made: string;
  /** Sends a write again by itself when no answer comes. */
  readonly sendsAgain: boolean;
}

export const OBJECT_CLIENTS: readonly ShownClient[] = [
  { name: 'fetch', shown: 'overFetch', made: 'overFetch(fetch, `${url}/bucket`)', sendsAgain: false },
  {
    name: 'the AWS SDK',
    shown: 'overS3',
    made: `overS3(new S3Client({ endpoint: url, region: 'us-east-1', forcePathStyle: true, credentials }), 'bucket')`,
    sendsAgain: true,
  },
];

const script = ({ shown, made }: ShownClient): string => `
import { S3Client } from '@aws-sdk/client-s3';
import { FencedObjects } from 'nestjs-zookeeper-lock/fencing';
import { ${shown} } from './snippet.js';

const url = process.argv[2] ?? '';
const credentials = { accessKeyId: 'a', secretAccessKey: 'b' };
void [S3Client, credentials];
const objects = new FencedObjects({ client: ${made} });
const name = '/locks/reports/ä 42';
const outcome = (promise: Promise<unknown>) =>
  promise.then(() => 'accepted', (error: unknown) => String((error as { code?: unknown }).code ?? error));
const outcomes = [
  await outcome(objects.update(name, 5n, (now) => (now?.toString() ?? '') + 'a')),
  await outcome(objects.update(name, 6n, (now) => (now?.toString() ?? '') + 'b')),
  await outcome(objects.update(name, 5n, (now) => (now?.toString() ?? '') + 'c')),
  (await objects.read(name))?.content.toString(),
];
console.log(JSON.stringify(outcomes));
process.exit();
`;

/** Compiles the snippet, writes with it three times, the last time with the token of an earlier holder, and reads. */
export async function runObjectClient(packages: string, client: ShownClient, url: string): Promise<unknown> {
  const snippet = [...snippetsOf(PAGE).values()].find((text) => text.includes(`function ${client.shown}`));
  if (snippet === undefined) throw new Error(`${PAGE} does not show ${client.shown}`);
  const files = new Map([
    ['snippet.ts', snippet],
    ['script.ts', script(client)],
  ]);
  const folder = await mkdtemp(join(packages, 'application-'));
  try {
    for (const [name, text] of files) await writeFile(join(folder, name), text);
    const faults = compile(files, folder);
    if (faults.length > 0) throw new Error(faults.join('\n'));
    const printed = await run(process.execPath, [...TYPESCRIPT_FLAGS, join(folder, 'script.ts'), url]);
    return JSON.parse(printed.trim().split('\n').at(-1) ?? '');
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
