import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface ToldServer extends AsyncDisposable {
  readonly url: string;
  /** Of the requests that came. */
  readonly paths: readonly string[];
  /** The first request came; its client went away. */
  readonly asked: Promise<void>;
  readonly gone: Promise<void>;
}

/** A server that tells what came, and answers, or never does. */
export async function startServer(how: 'answers' | 'is silent'): Promise<ToldServer> {
  const paths: string[] = [];
  let onAsked!: () => void;
  let onGone!: () => void;
  const asked = new Promise<void>((resolve) => (onAsked = resolve));
  const gone = new Promise<void>((resolve) => (onGone = resolve));
  const server: Server = createServer((request, response) => {
    paths.push(request.url ?? '');
    request.on('error', onGone).on('close', onGone);
    onAsked();
    if (how === 'answers') response.end();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  const stop = async (): Promise<void> => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  };
  return { url, paths, asked, gone, [Symbol.asyncDispose]: stop };
}
