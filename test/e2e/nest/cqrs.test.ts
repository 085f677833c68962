import { describe, expect, it } from '@jest/globals';
import { Injectable } from '@nestjs/common';
import { CommandBus, CommandHandler, CqrsModule, EventBus, EventsHandler, type ICommandHandler } from '@nestjs/cqrs';
import { EventEmitter2, EventEmitterModule, OnEvent } from '@nestjs/event-emitter';
import { currentLock, detached, Fence, injected, Locked } from '../../../lib/index.js';
import { startApplication } from '../support/application.js';

class Pay {
  constructor(readonly orderId: string) {}
}

class Paid {}

const seen: (string | undefined)[] = [];

@CommandHandler(Pay)
class PayHandler implements ICommandHandler<Pay> {
  constructor(
    private readonly bus: EventBus,
    private readonly emitter: EventEmitter2,
  ) {}

  @Locked('/locks/:command.orderId')
  async execute(command: Pay, @Fence() token: bigint = injected()): Promise<object> {
    this.bus.publish(new Paid());
    detached(() => void this.bus.publish(new Paid()));
    this.emitter.emit('paid');
    detached(() => this.emitter.emit('paid'));
    return { orderId: command.orderId, isToken: token === currentLock()?.fencingToken };
  }
}

@EventsHandler(Paid)
class PaidHandler {
  handle(): void {
    seen.push(`cqrs ${currentLock()?.key}`);
  }
}

@Injectable()
class Listener {
  @OnEvent('paid')
  paid(): void {
    seen.push(`emitter ${currentLock()?.key}`);
  }
}

describe('@Locked on a CQRS command handler', () => {
  it('locks it; event handlers inherit the lock of the publisher unless the publishing is detached', async () => {
    await using application = await startApplication({
      imports: [CqrsModule.forRoot(), EventEmitterModule.forRoot()],
      providers: [PayHandler, PaidHandler, Listener],
    });

    const result: unknown = await application.get(CommandBus).execute(new Pay('o1'));

    expect(result).toEqual({ orderId: 'o1', isToken: true });
    expect(seen).toEqual(['cqrs /locks/o1', 'cqrs undefined', 'emitter /locks/o1', 'emitter undefined']);
  });
});
