import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { compileFunction } from 'node:vm';
import { describe, expect, it } from '@jest/globals';
import * as common from '@nestjs/common';
import { Controller, Get, type INestApplication } from '@nestjs/common';
import * as terminus from '@nestjs/terminus';
import { HealthCheck, type HealthCheckResult, HealthCheckService, TerminusModule } from '@nestjs/terminus';
import { Test } from '@nestjs/testing';
import ts from 'typescript';
import * as ours from '../../../lib/extras/terminus/index.js';
import { LockHealthIndicator, LockHealthModule } from '../../../lib/extras/terminus/index.js';
import {
  DistributedLockTestingModule,
  getLockTestingToken,
  type LockTesting,
  type LockTestingOptions,
} from '../../../lib/extras/testing/index.js';
import { DistributedLockModule } from '../../../lib/index.js';
import { freePort } from '../../support/proxy/ports.js';
import { eventually } from '../../support/process/eventually.js';

@Controller('health')
class HealthController {
  constructor(
    private readonly health: HealthCheckService,
    private readonly locks: LockHealthIndicator,
  ) {}

  @Get()
  @HealthCheck()
  check(): Promise<HealthCheckResult> {
    return this.health.check([
      () => this.locks.isHealthy('locks'),
      () => this.locks.isHealthy('stock', { name: 'stock' }),
    ]);
  }
}

interface Report {
  readonly status: number;
  readonly locks: Record<string, string>;
  readonly stock: Record<string, string>;
}

interface Running extends AsyncDisposable {
  readonly app: INestApplication;
  testing(name?: string): LockTesting;
  health(): Promise<Report>;
}

async function start(options: LockTestingOptions = {}): Promise<Running> {
  const module = await Test.createTestingModule({
    imports: [
      TerminusModule.forRoot({ logger: false }),
      LockHealthModule,
      DistributedLockTestingModule.forRoot(options),
      DistributedLockTestingModule.forRoot({ name: 'stock' }),
    ],
    controllers: [HealthController],
  }).compile();
  const app = module.createNestApplication({ logger: false });
  await app.listen(0, '127.0.0.1');
  const url = await app.getUrl();
  return {
    app,
    testing: (name) => app.get(getLockTestingToken(name)),
    health: async () => {
      const response = await fetch(`${url}/health`);
      const { details } = (await response.json()) as { details: Omit<Report, 'status'> };
      return { status: response.status, ...details };
    },
    [Symbol.asyncDispose]: () => app.close(),
  };
}

/** What the block of the page exports, with nothing added to it. */
function moduleOfThePage(): common.Type {
  const page = readFileSync(join(import.meta.dirname, '..', '..', '..', 'docs', 'production.md'), 'utf8');
  const [, source = ''] = /^## Readiness$[\s\S]*?^```ts\n([\s\S]*?)^```$/m.exec(page) ?? [];
  const { outputText } = ts.transpileModule(source, {
    compilerOptions: {
      target: ts.ScriptTarget.ES2022,
      module: ts.ModuleKind.CommonJS,
      experimentalDecorators: true,
    },
  });
  const modules = new Map<string, unknown>([
    ['@nestjs/common', common],
    ['@nestjs/terminus', terminus],
    ['nestjs-zookeeper-lock/terminus', ours],
  ]);
  const exported: Record<string, common.Type> = {};
  const block = compileFunction(outputText, ['require', 'exports']) as (require: unknown, exports: unknown) => void;
  block((name: string) => modules.get(name), exported);
  return exported.HealthModule!;
}

describe('GET /health with LockHealthIndicator', () => {
  it('is up with session id and state, connection by connection', async () => {
    await using running = await start();
    const { status, locks, stock } = await running.health();

    expect(status).toBe(200);
    expect(locks).toEqual({ status: 'up', state: 'connected', sessionId: expect.stringMatching(/^0x[0-9a-f]+$/) });
    expect(stock).toMatchObject({ status: 'up', state: 'connected' });
  });

  it('works as the page about production shows it', async () => {
    const locks = DistributedLockTestingModule.forRoot();
    const module = await Test.createTestingModule({ imports: [locks, moduleOfThePage()] }).compile();
    const app = module.createNestApplication({ logger: false });
    await app.listen(0, '127.0.0.1');
    try {
      const url = `${await app.getUrl()}/health`;
      expect(await (await fetch(`${url}/live`)).text()).toBe('ok');
      const ready = await fetch(`${url}/ready`);
      expect(ready.status).toBe(200);
      expect(await ready.json()).toMatchObject({ info: { locks: { status: 'up', state: 'connected' } } });
    } finally {
      await app.close();
    }
  });

  it('follows the session: down while suspended, up when it is back', async () => {
    await using running = await start();
    const before = await running.health();

    await running.testing('stock').suspend();
    const meanwhile = await running.health();
    expect(meanwhile).toMatchObject({ status: 503, locks: { status: 'up' }, stock: { status: 'down' } });
    expect(meanwhile.stock).toMatchObject({
      state: 'suspended',
      message: expect.stringContaining('is down'),
    });

    await running.testing('stock').resume();
    expect(await running.health()).toMatchObject({ status: 200, stock: { ...before.stock, state: 'reconnected' } });
  });

  it('is down when the session is lost, and up with another session', async () => {
    await using running = await start({ sessionTimeoutMs: 400 });
    const { locks: before } = await running.health();

    await running.testing().suspend();
    await running.testing().untilState('lost');
    expect(await running.health()).toMatchObject({ status: 503, locks: { status: 'down', state: 'lost' } });

    await running.testing().endSession();
    await running.testing().resume();
    const { status, locks } = await running.health();
    expect({ status, state: locks.state }).toEqual({ status: 200, state: 'reconnected' });
    expect(locks.sessionId).not.toBe(before.sessionId);
  });

  it('names no server and no address to whoever asks', async () => {
    const port = await freePort();
    const connect = `127.0.0.1:${port}`;
    const module = await Test.createTestingModule({
      imports: [
        TerminusModule.forRoot({ logger: false }),
        LockHealthModule,
        DistributedLockModule.forRoot({ connect, startup: 'lazy' }),
        DistributedLockModule.forRoot({ connect, startup: 'lazy', name: 'stock' }),
      ],
      controllers: [HealthController],
    }).compile();
    const app = module.createNestApplication({ logger: false });
    await app.listen(0, '127.0.0.1');
    try {
      for (let asked = 0; asked < 3; asked += 1) {
        const answer = await fetch(`${await app.getUrl()}/health`);
        expect(answer.status).toBe(503);
        expect(await answer.text()).not.toMatch(new RegExp(`${port}|127\\.0\\.0\\.1|ECONN`));
      }
    } finally {
      await app.close();
    }
  });

  it('has a lazy connection begin, and is ready when it is there', async () => {
    await using running = await start({ startup: 'lazy' });

    expect(await running.health()).toMatchObject({ status: 503, locks: { state: 'connecting' } });
    await running.testing().untilState('connected');
    expect(await eventually('ready', async () => (await running.health()).status === 200)).toBe(true);
  });
});
