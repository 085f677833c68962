import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { ObjectClient } from '../../../lib/fencing/objects/object-client.js';

/**
 * What becomes of the next write of an object.
 *
 * - `lose the request`: it never arrives. `lose the answer`: it is carried out, and the link breaks.
 * - `fail`: 503. `refuse`: 403.
 */
export type Fault = 'lose the request' | 'lose the answer' | 'fail' | 'refuse';

/** A write that waits at the server, all of its body received, until the test lets it go on. */
export interface HeldWrite {
  readonly arrived: Promise<void>;
  goOn(): void;
}

interface StoredVersion {
  readonly body: Buffer;
  readonly etag: string;
}

/**
 * Behaves as S3 does with conditional writes, over HTTP on 127.0.0.1. The ETag is the MD5 of the body. A condition is looked at when
 * the request comes (412 where it is not met), and once more when the body is there: a write in between is a 409. A condition on an
 * object that is not there is a 404.
 */
export class ObjectServer {
  /** The status of each write, in the order of their ends. */
  readonly answers: number[] = [];
  /** The bodies that each object had, one after the other. */
  readonly versions = new Map<string, Buffer[]>();
  /** How long a body is on its way. */
  uploadMs = 0;
  /** As a store that takes a header that it does not know for none. */
  ignoresConditions = false;
  readonly #objects = new Map<string, StoredVersion>();
  readonly #faults: Fault[] = [];
  readonly #holds: { arrive: () => void; readonly goneOn: Promise<void> }[] = [];

  private constructor(private readonly server: Server) {
    server.on('request', (request, response) => {
      this.#serve(request, response).catch(() => response.destroy());
    });
  }

  static async start(): Promise<ObjectServer> {
    const server = createServer();
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return new ObjectServer(server);
  }

  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  /** The next writes meet these, one each. */
  meet(...faults: Fault[]): void {
    this.#faults.push(...faults);
  }

  holdNextWrite(): HeldWrite {
    let arrive: () => void = () => undefined;
    let goOn: () => void = () => undefined;
    const arrived = new Promise<void>((resolve) => (arrive = resolve));
    const goneOn = new Promise<void>((resolve) => (goOn = resolve));
    this.#holds.push({ arrive, goneOn });
    return { arrived, goOn: () => goOn() };
  }

  /** Puts an object there as another program would. */
  place(name: string, body: string): void {
    this.#store(`/${encodeURIComponent(name)}`, Buffer.from(body));
  }

  async stop(): Promise<void> {
    this.server.closeAllConnections();
    this.server.close();
    await once(this.server, 'close');
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { pathname: path } = new URL(request.url ?? '/', this.url);
    if (request.method === 'PUT') return this.#put(path, request, response);
    const found = this.#objects.get(path);
    if (found === undefined) return answer(response, 404, 'NoSuchKey');
    response.writeHead(200, { etag: found.etag }).end(found.body);
  }

  async #put(path: string, request: IncomingMessage, response: ServerResponse): Promise<void> {
    const fault = this.#faults.shift();
    const hold = this.#holds.shift();
    const atFirst = this.#judge(path, request);
    const body = Buffer.concat(await request.toArray());
    if (this.uploadMs > 0) await new Promise((resolve) => setTimeout(resolve, this.uploadMs));
    hold?.arrive();
    await hold?.goneOn;
    if (fault === 'lose the request') return void response.destroy();
    if (fault === 'fail') return this.#tell(response, 503, 'SlowDown');
    if (fault === 'refuse') return this.#tell(response, 403, 'AccessDenied');
    const judged = atFirst ?? (this.#judge(path, request) === undefined ? undefined : CONFLICT);
    if (judged !== undefined) return this.#tell(response, ...judged);
    const etag = this.#store(path, body);
    if (fault === 'lose the answer') return void response.destroy();
    this.answers.push(200);
    response.writeHead(200, { etag }).end();
  }

  /** What refuses a write at this moment. */
  #judge(path: string, { headers }: IncomingMessage): [number, string] | undefined {
    const found = this.#objects.get(path);
    const { 'if-match': ifMatch, 'if-none-match': ifNoneMatch } = headers;
    if (this.ignoresConditions) return undefined;
    if (ifNoneMatch === '*') return found === undefined ? undefined : [412, 'PreconditionFailed'];
    if (ifMatch === undefined) return undefined;
    if (found === undefined) return [404, 'NoSuchKey'];
    return found.etag === ifMatch ? undefined : [412, 'PreconditionFailed'];
  }

  #store(path: string, body: Buffer): string {
    const etag = `"${createHash('md5').update(body).digest('hex')}"`;
    this.#objects.set(path, { body, etag });
    this.versions.set(path, [...(this.versions.get(path) ?? []), body]);
    return etag;
  }

  #tell(response: ServerResponse, status: number, code: string): void {
    this.answers.push(status);
    answer(response, status, code);
  }
}

const CONFLICT: [number, string] = [409, 'ConditionalRequestConflict'];

function answer(response: ServerResponse, status: number, code: string): void {
  response.writeHead(status, { 'content-type': 'application/xml' }).end(`<Error><Code>${code}</Code></Error>`);
}

/** A client over `fetch`, which sends nothing twice. */
export function objectClient({ url }: { readonly url: string }): ObjectClient {
  const pathOf = (name: string): string => `${url}/${encodeURIComponent(name)}`;
  return {
    async get(name) {
      const response = await fetch(pathOf(name));
      const body = new Uint8Array(await response.arrayBuffer());
      if (response.status === 404) return undefined;
      if (!response.ok) throw Object.assign(new Error('GET failed'), { status: response.status });
      return { body, etag: response.headers.get('etag') ?? '' };
    },
    async put(name, body, { ifMatch, ifNoneMatch }) {
      const condition = ifMatch === undefined ? { 'if-none-match': ifNoneMatch } : { 'if-match': ifMatch };
      const response = await fetch(pathOf(name), { method: 'PUT', body, headers: condition });
      await response.arrayBuffer();
      if (!response.ok) throw Object.assign(new Error('PUT failed'), { status: response.status });
    },
  };
}
