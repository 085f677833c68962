import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { Controller, UseFilters } from '@nestjs/common';
import { type ClientProxy, ClientProxyFactory, EventPattern, MessagePattern, Transport } from '@nestjs/microservices';
import { firstValueFrom } from 'rxjs';
import { Locked, LockExceptionFilter, type LockHandle, LockService } from '../../../lib/index.js';
import { eventually } from '../../support/process/eventually.js';
import { freePort } from '../../support/proxy/ports.js';
import { startApplication, type TestApplication } from '../support/application.js';
import { recordRefusals, type Refusals } from '../support/refusals.js';

const BUSY = '/locks/tenants/acme';
const QUICK = { waitMs: 1_000 };
const ALL_HANDLED = 'handled';

/** What handlers and the lock service have come to, in order: a client of events hears nothing. */
const ended: string[] = [];

function ran(event: unknown): void {
  ended.push(`ran for ${JSON.stringify(event)}`);
}

@Controller()
class OrdersController {
  constructor(private readonly locks: LockService) {}

  @EventPattern('above')
  @Locked(BUSY, QUICK)
  async above(event: unknown): Promise<void> {
    ran(event);
  }

  @Locked(BUSY, QUICK)
  @EventPattern('below')
  async below(event: unknown): Promise<void> {
    ran(event);
  }

  @UseFilters(LockExceptionFilter)
  @EventPattern('filtered')
  @Locked(BUSY, QUICK)
  async filtered(event: unknown): Promise<void> {
    ran(event);
  }

  @EventPattern('nesting')
  @Locked('/locks/free')
  async nesting(event: unknown): Promise<void> {
    await this.locks.withLock(BUSY, () => ran(event), QUICK);
  }

  @EventPattern('skipping')
  @Locked(BUSY, { ...QUICK, onBusy: () => void ended.push(ALL_HANDLED) })
  async skipping(event: unknown): Promise<void> {
    ran(event);
  }

  @UseFilters(LockExceptionFilter)
  @MessagePattern('asking')
  @Locked(BUSY, QUICK)
  async asking(): Promise<void> {}
}

describe('an event that came over RPC, and found its lock busy,', () => {
  let application: TestApplication;
  let client: ClientProxy;
  let held: LockHandle;
  let refusals: Refusals;

  beforeAll(async () => {
    const overTcp = { transport: Transport.TCP, options: { host: '127.0.0.1', port: await freePort() } } as const;
    application = await startApplication({ controllers: [OrdersController] }, {}, async (app) => {
      app.connectMicroservice(overTcp);
      await app.startAllMicroservices();
    });
    client = ClientProxyFactory.create(overTcp);
    held = await application.locks.acquire(BUSY, { label: 'the holder' });
    application.locks.events$.subscribe((event) => {
      if (event.type === 'failed') ended.push((event.error as { details?: string }).details ?? '');
    });
  });
  beforeEach(() => {
    ended.length = 0;
    refusals = recordRefusals();
  });
  afterEach(() => refusals[Symbol.dispose]());
  afterAll(async () => {
    await client.close();
    await held.release();
    await application.app.close();
  });

  it.each([
    ['above', 'OrdersController.above did not run for an event'],
    ['below', 'OrdersController.below did not run for an event'],
    ['filtered', 'OrdersController.filtered did not run for an event'],
    ['nesting', 'OrdersController.nesting failed at an event'],
  ])('is a warning with the method, the key and who holds (%s)', async (event, what) => {
    client.emit(event, {});
    const lines = await eventually('the log has it', () => {
      const found = refusals.take();
      return found.length > 0 ? found : undefined;
    });

    expect(ended).toEqual([expect.stringContaining(BUSY)]);
    expect(lines).toEqual([`${what}. LOCK_TIMEOUT: ${ended[0]}`]);
    expect(lines[0]).toContain('the holder');
  });

  it('is none where the method itself says what happens then', async () => {
    client.emit('skipping', {});
    await eventually('it was handled', () => ended.includes(ALL_HANDLED));
    expect(refusals.take()).toEqual([]);
  });

  it('is none where somebody waits for the answer', async () => {
    await expect(firstValueFrom(client.send('asking', {}))).rejects.toMatchObject({ code: 'LOCK_TIMEOUT' });
    expect(refusals.take()).toEqual([expect.stringMatching(/^LOCK_TIMEOUT: /)]);
  });
});
