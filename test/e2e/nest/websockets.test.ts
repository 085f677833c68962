import { once } from 'node:events';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { UseFilters } from '@nestjs/common';
import { WsAdapter } from '@nestjs/platform-ws';
import { ConnectedSocket, MessageBody, SubscribeMessage, WebSocketGateway } from '@nestjs/websockets';
import { type Observable, of } from 'rxjs';
import { WebSocket } from 'ws';
import { currentLock, Fence, injected, Locked, LockExceptionFilter } from '../../../lib/index.js';
import { startApplication, type TestApplication } from '../support/application.js';

@WebSocketGateway()
class DocumentsGateway {
  @SubscribeMessage('edit')
  @Locked('/locks/:id')
  async edit(@MessageBody('id') id: string, @Fence() token: bigint = injected()): Promise<object> {
    return { event: 'edited', data: { id, key: currentLock()?.key, isToken: token === currentLock()?.fencingToken } };
  }

  @Locked('/locks/:body.id')
  @SubscribeMessage('watch')
  watch(@ConnectedSocket() _client: object, @MessageBody() body: { id: string }): Observable<object> {
    return of({ event: 'watched', data: { id: body.id, key: currentLock()?.key } });
  }

  @UseFilters(LockExceptionFilter)
  @SubscribeMessage('busy')
  @Locked('/locks/held', { waitMs: 100 })
  async busy(): Promise<void> {}
}

describe('@Locked on a gateway', () => {
  let application: TestApplication;
  let socket: WebSocket;

  async function ask(event: string, data: object): Promise<unknown> {
    const answered = once(socket, 'message');
    socket.send(JSON.stringify({ event, data }));
    const [answer] = (await answered) as [Buffer];
    return JSON.parse(answer.toString());
  }

  beforeAll(async () => {
    application = await startApplication({ providers: [DocumentsGateway] }, {}, (app) => {
      app.useWebSocketAdapter(new WsAdapter(app));
    });
    socket = new WebSocket(application.url.replace('http', 'ws'));
    await once(socket, 'open');
  });
  afterAll(async () => {
    socket.close();
    await application.app.close();
  });

  it('locks the handler and fills in the token', async () => {
    expect(await ask('edit', { id: 'a' })).toEqual({
      event: 'edited',
      data: { id: 'a', key: '/locks/a', isToken: true },
    });
  });

  it('locks a stream', async () => {
    expect(await ask('watch', { id: 'b' })).toEqual({ event: 'watched', data: { id: 'b', key: '/locks/b' } });
  });

  it('tells the client what it was, by the filter', async () => {
    await using held = await application.locks.acquire('/locks/held');

    expect(await ask('busy', {})).toEqual({
      event: 'exception',
      data: {
        status: 'error',
        statusCode: 423,
        code: 'LOCK_TIMEOUT',
        message: expect.stringMatching(/^The lock is busy/),
      },
    });
    expect(held.isHeld()).toBe(true);
  });
});
