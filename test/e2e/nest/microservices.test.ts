import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Controller, type PipeTransform, UseFilters, UsePipes } from '@nestjs/common';
import {
  type ClientGrpc,
  type ClientProxy,
  ClientProxyFactory,
  EventPattern,
  GrpcMethod,
  MessagePattern,
  Payload,
  Transport,
} from '@nestjs/microservices';
import { firstValueFrom, lastValueFrom, Observable, of, toArray } from 'rxjs';
import { GrpcLockExceptionFilter } from '../../../lib/extras/grpc/index.js';
import {
  currentLock,
  Fence,
  injected,
  InvalidLockKeyError,
  LockAbandonedError,
  LockAbortedError,
  LockClosedError,
  LockConfigurationError,
  Locked,
  type LockError,
  LockExceptionFilter,
  LockLostError,
  LockUnavailableError,
  StaleFencingTokenError,
} from '../../../lib/index.js';
import { startApplication, type TestApplication } from '../support/application.js';
import { freePort } from '../../support/proxy/ports.js';
import { Gate } from '../support/gate.js';

interface Edit {
  readonly id: string;
}

const piped: unknown[] = [];

class RecordingPipe implements PipeTransform {
  transform(value: unknown): unknown {
    piped.push(typeof value);
    return value;
  }
}

let eventHandled = new Gate();
let heldByEvent: string | undefined;

@Controller()
class DocumentsController {
  @MessagePattern('edit')
  @Locked('/locks/:id')
  @UsePipes(RecordingPipe)
  async edit(@Payload('id') id: string, @Fence() token: bigint = injected()): Promise<object> {
    return { id, key: currentLock()?.key, isToken: token === currentLock()?.fencingToken };
  }

  /** Without parameter decorators, Nest hands over what came as it is. */
  @Locked('/locks/:data.id')
  @MessagePattern('raw')
  async raw(data: Edit): Promise<object> {
    return { id: data.id, key: currentLock()?.key };
  }

  @MessagePattern('stream')
  @Locked('/locks/:id')
  stream(@Payload('id') id: string): Observable<string> {
    return of(id, String(currentLock()?.key));
  }

  @EventPattern('edited')
  @Locked('/locks/:data.id')
  async edited(data: Edit): Promise<void> {
    heldByEvent = `${data.id} ${currentLock()?.key}`;
    void eventHandled.pass();
  }

  @UseFilters(LockExceptionFilter)
  @MessagePattern('busy')
  @Locked('/locks/held', { waitMs: 100 })
  async busy(): Promise<void> {}

  @GrpcMethod('Documents', 'Edit')
  @Locked('/locks/grpc/:id')
  async editByGrpc(@Payload('id') id: string, @Fence() token: bigint = injected()): Promise<object> {
    return { id, key: currentLock()?.key, token: String(token) };
  }

  @UseFilters(GrpcLockExceptionFilter)
  @GrpcMethod('Documents', 'Fail')
  async fail(@Payload('id') id: string): Promise<object> {
    if (id === 'busy') await this.busy();
    throw ERRORS[id] ?? new Error(id);
  }

  @Locked('/locks/grpc/:request.id')
  @GrpcMethod('Documents', 'Watch')
  watch(request: Edit): Observable<object> {
    return of({ id: request.id, key: currentLock()?.key, token: '' });
  }
}

const ERRORS: Record<string, LockError> = {
  unavailable: new LockUnavailableError('unavailable'),
  lost: new LockLostError('lost'),
  closed: new LockClosedError('closed'),
  stale: new StaleFencingTokenError('stale', '/k'),
  invalid: new InvalidLockKeyError('invalid'),
  aborted: new LockAbortedError('aborted'),
  abandoned: new LockAbandonedError('closed', '/k'),
  configuration: new LockConfigurationError('a secret of the set-up'),
};

const grpc = {
  package: 'documents',
  protoPath: join(import.meta.dirname, 'documents.proto'),
};

describe('@Locked on message handlers', () => {
  let application: TestApplication;
  let tcp: ClientProxy;
  let grpcClient: ClientGrpc;

  beforeAll(async () => {
    const [tcpPort, grpcPort] = [await freePort(), await freePort()];
    const grpcOptions = { ...grpc, url: `127.0.0.1:${grpcPort}` };
    application = await startApplication({ controllers: [DocumentsController] }, {}, async (app) => {
      app.connectMicroservice({ transport: Transport.TCP, options: { host: '127.0.0.1', port: tcpPort } });
      app.connectMicroservice({ transport: Transport.GRPC, options: grpcOptions });
      await app.startAllMicroservices();
    });
    tcp = ClientProxyFactory.create({ transport: Transport.TCP, options: { host: '127.0.0.1', port: tcpPort } });
    grpcClient = ClientProxyFactory.create({
      transport: Transport.GRPC,
      options: grpcOptions,
    });
  });
  afterAll(async () => {
    await tcp.close();
    (grpcClient as unknown as ClientProxy).close();
    await application.app.close();
  });

  it('binds the payload over TCP, fills in the token, and leaves the pipes alone', async () => {
    expect(await firstValueFrom(tcp.send('edit', { id: 'a' }))).toEqual({ id: 'a', key: '/locks/a', isToken: true });
    expect(piped).toEqual(['string']);
  });

  it('leaves the raw arguments of a handler over TCP as they are', async () => {
    const expected = { id: 'b', key: '/locks/b' };
    expect(await firstValueFrom(tcp.send('raw', { id: 'b' }))).toEqual(expected);
  });

  it('holds over TCP for a whole stream', async () => {
    expect(await lastValueFrom(tcp.send('stream', { id: 'c' }).pipe(toArray()))).toEqual(['c', '/locks/c']);
  });

  it('locks the handlers of events over TCP', async () => {
    eventHandled = new Gate();
    tcp.emit('edited', { id: 'd' });
    await eventHandled.reached;

    expect(heldByEvent).toBe('d /locks/d');
  });

  it('lets the filter tell the client over TCP what it was', async () => {
    await using held = await application.locks.acquire('/locks/held');

    await expect(firstValueFrom(tcp.send('busy', {}))).rejects.toEqual({
      status: 'error',
      statusCode: 423,
      code: 'LOCK_TIMEOUT',
      message: expect.stringMatching(/^The lock is busy/),
    });
    expect(held.isHeld()).toBe(true);
  });

  it.each([
    ['busy', 'ABORTED', 10, 'LOCK_TIMEOUT: The lock is busy'],
    ['unavailable', 'UNAVAILABLE', 14, 'LOCK_UNAVAILABLE: The lock service is not available'],
    ['lost', 'UNAVAILABLE', 14, 'LOCK_LOST: The lock was lost'],
    ['closed', 'UNAVAILABLE', 14, 'LOCK_CLOSED: The lock service is shutting down'],
    ['stale', 'ABORTED', 10, 'STALE_FENCING_TOKEN: The fencing token is stale'],
    ['invalid', 'INVALID_ARGUMENT', 3, 'INVALID_LOCK_KEY: A value in the name of the lock'],
    ['aborted', 'CANCELLED', 1, 'LOCK_ABORTED: The wait for the lock was cancelled'],
    ['abandoned', 'FAILED_PRECONDITION', 9, 'LOCK_ABANDONED: The lock is closed'],
    ['configuration', 'INTERNAL', 13, 'LOCK_CONFIGURATION: Internal server error'],
  ])('lets the filter of /grpc answer what is %s with %s', async (id, _name, code, details) => {
    await using held = await application.locks.acquire('/locks/held');
    const documents = grpcClient.getService<{ fail(request: Edit): Observable<object> }>('Documents');
    const error: unknown = await firstValueFrom(documents.fail({ id })).catch((failure: unknown) => failure);

    expect(held.isHeld()).toBe(true);
    expect(error).toMatchObject({ code, details: expect.stringContaining(details) });
  });

  it('locks unary and streaming calls over gRPC', async () => {
    const documents = grpcClient.getService<{
      edit(request: Edit): Observable<object>;
      watch(request: Edit): Observable<object>;
    }>('Documents');

    expect(await firstValueFrom(documents.edit({ id: 'a' }))).toEqual({
      id: 'a',
      key: '/locks/grpc/a',
      token: expect.stringMatching(/^\d+$/),
    });
    expect(await lastValueFrom(documents.watch({ id: 'b' }))).toMatchObject({ id: 'b', key: '/locks/grpc/b' });
  });
});
