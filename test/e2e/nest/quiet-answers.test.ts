import { once } from 'node:events';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { Controller, Get, Inject, Injectable, Param, Sse, UseFilters } from '@nestjs/common';
import { AbstractGraphQLDriver, Args, type GqlModuleOptions, GraphQLModule, Query, Resolver } from '@nestjs/graphql';
import {
  type ClientGrpc,
  type ClientProxy,
  ClientProxyFactory,
  GrpcMethod,
  MessagePattern,
  Payload,
  Transport,
} from '@nestjs/microservices';
import { WsAdapter } from '@nestjs/platform-ws';
import { MessageBody, SubscribeMessage, WebSocketGateway } from '@nestjs/websockets';
import { graphql, GraphQLSchema } from 'graphql';
import { concat, defer, firstValueFrom, type Observable, of } from 'rxjs';
import { WebSocket } from 'ws';
import { GrpcLockExceptionFilter } from '../../../lib/extras/grpc/index.js';
import {
  DistributedLockModule,
  getLockServiceToken,
  Locked,
  LockExceptionFilter,
  type LockHandle,
  LockService,
} from '../../../lib/index.js';
import { freePort } from '../../support/proxy/ports.js';
import { memory, startApplication, type TestApplication } from '../support/application.js';
import { recordRefusals, type Refusals } from '../support/refusals.js';

/** Long enough for an answer on a busy machine, and for who holds the lock. */
const WAIT_MS = 500;
const TENANT = 'acme';
const HOLDER = 'BackOffice.sweep';
const KINDS = ['unavailable', 'undecorated', 'busy', 'full', 'misused', 'invalid'] as const;
type Kind = (typeof KINDS)[number];
type Failing = { readonly [kind in Kind]: () => Promise<string> };

/** The default connection leads nowhere, the one called `alive` to an ensemble in memory. */
@Injectable()
class Orders implements Failing {
  constructor(@Inject(LockService) private readonly locks: LockService) {}

  @Locked(() => `/tenants/${TENANT}`, { waitMs: 100 })
  async unavailable(): Promise<string> {
    return 'reached';
  }

  async undecorated(): Promise<string> {
    return this.locks.withLock(`/tenants/${TENANT}`, () => 'reached', { waitMs: 100 });
  }

  @Locked(() => `/tenants/${TENANT}`, { name: 'alive', waitMs: WAIT_MS })
  async busy(): Promise<string> {
    return 'was free';
  }

  @Locked(() => `/tenants/${TENANT}`, { name: 'alive', maxWaiting: 0 })
  async full(): Promise<string> {
    return 'was free';
  }

  @Locked(() => `/tenants/${TENANT}/read`, { name: 'alive', mode: 'read' })
  async misused(): Promise<string> {
    return this.writes();
  }

  @Locked(() => `/tenants/${TENANT}/read`, { name: 'alive' })
  async writes(): Promise<string> {
    return 'wrote';
  }

  @Locked(() => `/tenants//${TENANT}`, { name: 'alive' })
  async invalid(): Promise<string> {
    return 'was a key';
  }
}

@Controller()
class OrdersController {
  constructor(@Inject(Orders) private readonly orders: Orders) {}

  @Get('plain/:kind')
  plain(@Param('kind') kind: Kind): Promise<string> {
    return this.orders[kind]();
  }

  @Get('filtered/:kind')
  @UseFilters(LockExceptionFilter)
  filtered(@Param('kind') kind: Kind): Promise<string> {
    return this.orders[kind]();
  }

  @Sse('stream/:kind')
  stream(@Param('kind') kind: Kind): Observable<{ data: string }> {
    return concat(
      of({ data: 'first' }),
      defer(async () => ({ data: await this.orders[kind]() })),
    );
  }
}

@Controller()
class MessagesController {
  constructor(@Inject(Orders) private readonly orders: Orders) {}

  @MessagePattern('plain')
  plain(@Payload('id') kind: Kind): Promise<string> {
    return this.orders[kind]();
  }

  @GrpcMethod('Documents', 'Edit')
  plainForGrpc(@Payload('id') kind: Kind): Promise<string> {
    return this.orders[kind]();
  }

  @MessagePattern('filtered')
  @UseFilters(LockExceptionFilter)
  filtered(@Payload('id') kind: Kind): Promise<string> {
    return this.orders[kind]();
  }

  @GrpcMethod('Documents', 'Fail')
  @UseFilters(GrpcLockExceptionFilter)
  filteredForGrpc(@Payload('id') kind: Kind): Promise<string> {
    return this.orders[kind]();
  }
}

@WebSocketGateway()
class OrdersGateway {
  constructor(@Inject(Orders) private readonly orders: Orders) {}

  @SubscribeMessage('plain')
  plain(@MessageBody('id') kind: Kind): Promise<string> {
    return this.orders[kind]();
  }

  @SubscribeMessage('filtered')
  @UseFilters(LockExceptionFilter)
  filtered(@MessageBody('id') kind: Kind): Promise<string> {
    return this.orders[kind]();
  }
}

@Resolver()
class OrdersResolver {
  constructor(@Inject(Orders) private readonly orders: Orders) {}

  @Query(() => String)
  plain(@Args('kind', { type: () => String }) kind: Kind): Promise<string> {
    return this.orders[kind]();
  }

  @Query(() => String)
  @UseFilters(LockExceptionFilter)
  filtered(@Args('kind', { type: () => String }) kind: Kind): Promise<string> {
    return this.orders[kind]();
  }
}

/** A GraphQL server without the server. */
class SchemaOnly extends AbstractGraphQLDriver {
  schema: GraphQLSchema | undefined;

  async start(options: GqlModuleOptions): Promise<void> {
    this.schema = options.schema;
  }

  async stop(): Promise<void> {
    this.schema = undefined;
  }
}

describe('what leaves the process when a lock is not available', () => {
  let application: TestApplication;
  let deadPort: number;
  let held: LockHandle;
  let tcp: ClientProxy;
  let grpc: ClientGrpc;
  let socket: WebSocket;
  let refusals: Refusals;

  beforeAll(async () => {
    deadPort = await freePort();
    const [tcpPort, grpcPort] = [await freePort(), await freePort()];
    const overTcp = { transport: Transport.TCP, options: { host: '127.0.0.1', port: tcpPort } } as const;
    const ensemble = memory();
    const protoPath = join(import.meta.dirname, 'documents.proto');
    const overGrpc = {
      transport: Transport.GRPC,
      options: { package: 'documents', protoPath, url: `127.0.0.1:${grpcPort}` },
    } as const;
    application = await startApplication(
      {
        imports: [
          DistributedLockModule.forRoot({ name: 'alive', connect: ensemble }),
          DistributedLockModule.forRoot({ name: 'elsewhere', connect: ensemble }),
          GraphQLModule.forRoot({ driver: SchemaOnly, autoSchemaFile: true }),
        ],
        controllers: [OrdersController, MessagesController],
        providers: [Orders, OrdersGateway, OrdersResolver],
      },
      { connect: `127.0.0.1:${deadPort}`, startup: 'lazy' },
      async (app) => {
        app.useWebSocketAdapter(new WsAdapter(app));
        app.connectMicroservice(overTcp);
        app.connectMicroservice(overGrpc);
        await app.startAllMicroservices();
      },
    );
    tcp = ClientProxyFactory.create(overTcp);
    grpc = ClientProxyFactory.create(overGrpc);
    socket = new WebSocket(application.url.replace('http', 'ws'));
    await once(socket, 'open');
    const elsewhere = application.get<LockService>(getLockServiceToken('elsewhere'));
    held = await elsewhere.acquire(`/tenants/${TENANT}`, { label: HOLDER });
  });
  beforeEach(() => {
    refusals = recordRefusals();
  });
  afterEach(() => refusals[Symbol.dispose]());
  afterAll(async () => {
    socket.close();
    await tcp.close();
    (grpc as unknown as ClientProxy).close();
    await held.release();
    await application.app.close();
  });

  async function overHttp(path: string): Promise<string> {
    const response = await fetch(`${application.url}/${path}`);
    return `${response.status} ${JSON.stringify([...response.headers])} ${await response.text()}`;
  }

  async function overTcp(pattern: string, kind: Kind): Promise<string> {
    return firstValueFrom(tcp.send<string>(pattern, { id: kind })).catch((error: unknown) => JSON.stringify(error));
  }

  async function overGrpc(method: 'edit' | 'fail', kind: Kind): Promise<string> {
    type Documents = Record<'edit' | 'fail', (request: object) => Observable<string>>;
    const failure = await firstValueFrom(grpc.getService<Documents>('Documents')[method]({ id: kind })).catch(
      (error: unknown) => error as Error,
    );
    return `${String(failure)} ${JSON.stringify(failure)}`;
  }

  async function overWebSocket(event: string, kind: Kind): Promise<string> {
    const answered = once(socket, 'message');
    socket.send(JSON.stringify({ event, data: { id: kind } }));
    return String(((await answered) as [Buffer])[0]);
  }

  async function overGraphQl(field: string, kind: Kind): Promise<string> {
    const { schema } = application.app.get<GraphQLModule<SchemaOnly>>(GraphQLModule).graphQlAdapter;
    return JSON.stringify(await graphql({ schema: schema as GraphQLSchema, source: `{ ${field}(kind: "${kind}") }` }));
  }

  const TRANSPORTS: [string, (kind: Kind) => Promise<string>][] = [
    ['HTTP', (kind) => overHttp(`plain/${kind}`)],
    ['HTTP with the filter', (kind) => overHttp(`filtered/${kind}`)],
    ['an event stream that has begun', (kind) => overHttp(`stream/${kind}`)],
    ['TCP', (kind) => overTcp('plain', kind)],
    ['TCP with the filter', (kind) => overTcp('filtered', kind)],
    ['gRPC', (kind) => overGrpc('edit', kind)],
    ['gRPC with the filter', (kind) => overGrpc('fail', kind)],
    ['WebSocket', (kind) => overWebSocket('plain', kind)],
    ['WebSocket with the filter', (kind) => overWebSocket('filtered', kind)],
    ['GraphQL', (kind) => overGraphQl('plain', kind)],
    ['GraphQL with the filter', (kind) => overGraphQl('filtered', kind)],
  ];

  it.each(TRANSPORTS)('names over %s no key, no holder, no server, no address, no errno', async (_transport, ask) => {
    for (const kind of KINDS) {
      const answer = await ask(kind);
      expect(answer).toMatch(/error|"statusCode"/i);
      expect(answer).not.toMatch(new RegExp(`${TENANT}|tenants|${deadPort}|127\\.0\\.0\\.1|ECONN|ZooKeeper`));
      for (const secret of [HOLDER, hostname(), `pid ${process.pid}`]) expect(answer).not.toContain(secret);
    }
  });

  it.each(TRANSPORTS.filter(([name]) => name.includes('filter')))(
    'says over %s by its code what it was, and leaves the rest to the log',
    async (transport, ask) => {
      const codes = transport.startsWith('GraphQL') ? /The lock service is not available/ : /"?LOCK_UNAVAILABLE/;
      expect(await ask('unavailable')).toMatch(codes);
      expect(await ask('busy')).toMatch(/The lock is busy: others held it/);
      expect(refusals.take().join('\n')).toMatch(
        new RegExp(
          `LOCK_TIMEOUT: .*/tenants/${TENANT} .* held by ${HOLDER} on ${hostname()} \\(pid ${process.pid}\\), in the queue`,
        ),
      );
      const full = transport.startsWith('gRPC') ? /"code":8.*LOCK_QUEUE_FULL: / : /its queue is full/;
      expect(await ask('full')).toMatch(full);
      expect(refusals.take().join('\n')).toMatch(
        new RegExp(`LOCK_QUEUE_FULL: The queue of /tenants/${TENANT} is full: 1`),
      );
    },
  );
});

describe('the log of a lock service that is not available', () => {
  it('names the servers and what they said, once for each time that they are away', async () => {
    const port = await freePort();
    using refusals = recordRefusals();
    const options = { connect: `127.0.0.1:${port}`, startup: 'lazy' } as const;
    await using application = await startApplication(
      { imports: [DistributedLockModule.forRoot({ name: 'alive', connect: memory() })], providers: [Orders] },
      options,
    );
    for (let calls = 0; calls < 3; calls += 1) {
      await expect(application.get(Orders).unavailable()).rejects.toThrow('The lock service is not available');
    }

    expect(refusals.take().filter((line) => line.includes('ECONNREFUSED'))).toEqual([
      expect.stringMatching(new RegExp(`no ZooKeeper at 127.*127\\.0\\.0\\.1:${port}.*ECONNREFUSED`)),
    ]);
  });
});
