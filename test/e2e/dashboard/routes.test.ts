import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import {
  type CallHandler,
  type CanActivate,
  type ExecutionContext,
  Inject,
  Injectable,
  Module,
  type NestInterceptor,
  VersioningType,
} from '@nestjs/common';
import { APP_INTERCEPTOR } from '@nestjs/core';
import { ExpressAdapter } from '@nestjs/platform-express';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import { map } from 'rxjs';
import { ScriptedDoctor } from '../../support/dashboard/scripted-doctor.js';
import { startDashboard, type TestDashboard } from '../support/dashboard.js';

@Injectable()
class Accounts {
  readonly roles: Readonly<Record<string, string>> = { ada: 'operator', eve: 'reader' };
}

@Module({ providers: [Accounts], exports: [Accounts] })
class AccountsModule {}

interface KnownRequest {
  readonly headers: Readonly<Record<string, string>>;
  role?: string | undefined;
}

/** As an application has it: who it is stands in a cookie, and what it may do is known to another service. */
@Injectable()
class CookieGuard implements CanActivate {
  constructor(@Inject(Accounts) private readonly accounts: Accounts) {}

  canActivate(context: ExecutionContext): boolean {
    const request = context.switchToHttp().getRequest<KnownRequest>();
    request.role = this.accounts.roles[/user=(\w+)/.exec(request.headers['cookie'] ?? '')?.[1] ?? ''];
    return request.role !== undefined;
  }
}

/** Many applications wrap all that their handlers return. */
class WrapInData implements NestInterceptor {
  intercept(_context: ExecutionContext, next: CallHandler): ReturnType<CallHandler['handle']> {
    return next.handle().pipe(map((data: unknown) => ({ data })));
  }
}

const KEY = '/locks/accounts/41970/settle';
const STEP = `/api/ops/locks/step?${new URLSearchParams({ do: 'break', key: KEY, token: '4294967397' }).toString()}`;
const ADAPTERS = [
  ['Express', () => new ExpressAdapter()],
  ['Fastify', () => new FastifyAdapter()],
] as const;

describe.each(ADAPTERS)('The dashboard on %s, below a prefix, in an application with versions', (_name, adapter) => {
  let dashboard: TestDashboard;
  const doctor = new ScriptedDoctor();

  beforeAll(async () => {
    dashboard = await startDashboard({
      adapter: adapter(),
      doctor,
      providers: [{ provide: APP_INTERCEPTOR, useClass: WrapInData }],
      dashboard: {
        path: 'ops/locks',
        guard: CookieGuard,
        imports: [AccountsModule],
        mayOperate: (request: KnownRequest) => request.role === 'operator',
        operatorOf: (request: KnownRequest) => `a ${request.role}`,
      },
      prepare: (app) => app.setGlobalPrefix('api').enableVersioning({ type: VersioningType.URI, defaultVersion: '1' }),
    });
  });
  afterAll(async () => dashboard[Symbol.asyncDispose]());

  const as = (user: string, path: string, init: RequestInit = {}): Promise<Response> =>
    dashboard.request(path, { redirect: 'manual', ...init, headers: { cookie: `user=${user}`, ...init.headers } });
  const send = (
    user: string,
    fields: Record<string, string>,
    headers: Record<string, string> = {},
  ): Promise<Response> =>
    as(user, STEP, {
      method: 'POST',
      body: new URLSearchParams(fields),
      headers: { 'sec-fetch-site': 'same-origin', ...headers },
    });

  it('has its pages there, with links that are relative to each other', async () => {
    const start = await as('eve', '/api/ops/locks');
    expect([start.status, start.headers.get('location')]).toEqual([303, 'locks/list']);
    const list = await as('eve', '/api/ops/locks/list');
    expect([list.status, list.headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8']);
    const page = await list.text();
    expect(page).toMatch(/^<!doctype html>/);
    const addresses = [...page.matchAll(/(?:href|src|action)="([^"]*)"/g)].map(([, address]) => address!);
    expect(addresses.length).toBeGreaterThan(60);
    expect(addresses.filter((address) => /^(?:\/|https?:)/.test(address))).toEqual([]);
    for (const path of [`lock?key=${encodeURIComponent(KEY)}`, 'graph'])
      expect((await as('eve', `/api/ops/locks/${path}`)).status).toBe(200);
  });

  it('answers nobody whom the guard does not know, and says even then what a browser may do with the answer', async () => {
    for (const path of ['', '/list', `/lock?key=${KEY}`, '/graph', '/step', '/live', '/assets/dashboard.css']) {
      const answer = await as('nobody', `/api/ops/locks${path}`);
      expect([path, answer.status]).toEqual([path, 403]);
      expect(answer.headers.get('content-security-policy')).toContain(`default-src 'none'`);
      expect(await answer.text()).not.toContain('locks/');
    }
    expect((await send('nobody', { reason: 'x', grace: '10' })).status).toBe(403);
  });

  it('allows a page no script and no style but its own, no other server, no frame', async () => {
    const { headers } = await as('eve', '/api/ops/locks/list');
    const policy = headers.get('content-security-policy')!.split('; ');
    expect(policy).toEqual([
      `default-src 'none'`,
      `script-src 'self'`,
      `style-src 'self'`,
      `connect-src 'self'`,
      `img-src 'self' data:`,
      `form-action 'self'`,
      `frame-ancestors 'none'`,
      `base-uri 'none'`,
    ]);
    expect(headers.get('x-content-type-options')).toBe('nosniff');
    expect(headers.get('cache-control')).toBe('no-store');
  });

  it('has files that browsers may keep, under names that change with them', async () => {
    const page = await (await as('eve', '/api/ops/locks/list')).text();
    const names = [...page.matchAll(/assets\/(dashboard-[0-9a-f]{12}\.(?:css|js))/g)].map(([, name]) => name!);
    expect(names).toHaveLength(2);
    for (const name of names) {
      const { status, headers } = await as('eve', `/api/ops/locks/assets/${name}`);
      expect([status, headers.get('cache-control')]).toEqual([200, 'private, max-age=15552000, immutable']);
    }
    // Of another version, while the fleet is being updated.
    const other = await as('eve', '/api/ops/locks/assets/dashboard-000000000000.css');
    expect([other.status, other.headers.get('cache-control')]).toEqual([200, 'no-store']);
    expect((await as('eve', '/api/ops/locks/assets/passwd')).status).toBe(404);
  });

  it('offers what the visitor may do, and nothing else', async () => {
    const lock = `/api/ops/locks/lock?key=${encodeURIComponent(KEY)}`;
    const [operator, reader] = await Promise.all(['ada', 'eve'].map(async (user) => (await as(user, lock)).text()));
    expect(operator).toContain('>Break</a');
    expect(operator).toContain('Drain the queue');
    expect(reader).not.toMatch(/step\?|>Break<|Drain/);
    const confirmation = await (await as('ada', STEP)).text();
    expect(confirmation).toContain('AccountsController.settle');
    expect(confirmation).toContain('a operator');
    expect((await as('eve', STEP)).status).toBe(403);
  });

  it('does it for the form of its own page, and says what became of it', async () => {
    const before = doctor.calls.length;
    const done = await send('ada', { reason: 'stuck since noon', grace: '10' });
    const location = done.headers.get('location');
    expect(done.status).toBe(303);
    expect(doctor.calls.slice(before)).toContain(`break ${KEY}`);
    expect(await (await as('ada', `/api/ops/locks/${location}`)).text()).toContain(' UTC: The lock was broken');
  });

  it('says of nothing that it was done because an address does: one that somebody typed, or changed', async () => {
    const done = await send('ada', { reason: 'stuck since noon', grace: '10' });
    const given = new URLSearchParams(done.headers.get('location')!.replace('lock?', ''));
    const changed = (change: Record<string, string>): string =>
      new URLSearchParams({ ...Object.fromEntries(given), ...change }).toString();
    const addresses = [
      new URLSearchParams({ key: KEY, done: 'in order' }).toString(),
      new URLSearchParams({ key: KEY, done: 'drained', count: '4' }).toString(),
      changed({ key: '/locks/other' }),
      changed({ done: 'cleared' }),
    ];
    for (const address of addresses) {
      const answer = await as('eve', `/api/ops/locks/lock?${address}`);
      expect([address, answer.status]).toEqual([address, 200]);
      expect(await answer.text()).not.toMatch(/was broken|were ended|was opened|is open again/);
    }
  });

  it.each([
    ['a form of another site', 'ada', {}, { 'sec-fetch-site': 'cross-site' }, 403],
    [
      'a form of another origin, in a browser that tells no more',
      'ada',
      {},
      { 'sec-fetch-site': '', origin: 'http://evil.example' },
      403,
    ],
    ['somebody who may only look', 'eve', {}, {}, 403],
    ['a form without a reason', 'ada', { reason: ' ' }, {}, 400],
    ['a form with too long a reason', 'ada', { reason: 'x'.repeat(201) }, {}, 400],
    ['a form without a grace that was offered', 'ada', { grace: '1' }, {}, 400],
  ])('does nothing for %s', async (_who, user, fields, headers, status) => {
    const before = doctor.calls.filter((call) => call.startsWith('break')).length;
    const answer = await send(user, { reason: 'x', grace: '10', ...fields }, headers);
    expect(answer.status).toBe(status);
    expect(await answer.text()).toMatch(/Nothing was done|you may not break it/);
    expect(doctor.calls.filter((call) => call.startsWith('break'))).toHaveLength(before);
  });

  it.each([
    ['lock', 400],
    ['step?do=destroy&key=/a', 400],
    ['step?do=break&key=/a&token=x', 400],
    ['step?do=drain', 400],
  ])('says what is missing in an address: %s', async (path, status) => {
    const answer = await as('ada', `/api/ops/locks/${path}`);
    expect([answer.status, answer.headers.get('content-type')]).toEqual([status, 'text/html; charset=utf-8']);
  });

  it('streams when it is time to look, though all answers are wrapped', async () => {
    const end = new AbortController();
    const answer = await as('eve', '/api/ops/locks/live', { signal: end.signal });
    expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'text/event-stream']);
    end.abort();
  });
});

describe.each(ADAPTERS)('The stream of the dashboard on %s', (_name, adapter) => {
  it('ends with the application, and does not keep it', async () => {
    const dashboard = await startDashboard({ adapter: adapter(), doctor: new ScriptedDoctor() });
    const reader = (await dashboard.request('/locks/live')).body!.getReader();
    await dashboard[Symbol.asyncDispose]();
    for (let isDone = false; !isDone;) isDone = (await reader.read()).done;
  });
});

describe.each(ADAPTERS)('The form of the dashboard on %s, in an application without a parser', (name, adapter) => {
  it('is read all the same', async () => {
    const doctor = new ScriptedDoctor();
    const options = { adapter: adapter(), doctor, bodyParser: false, dashboard: { mayOperate: () => true } };
    await using dashboard = await startDashboard({
      ...options,
      // Without any parser Fastify answers 415 by itself; one that leaves the text as it is may be there.
      prepare: (app) => {
        if (name !== 'Fastify') return;
        const { instance } = app.getHttpAdapter() as unknown as { instance: ContentTypeParsers };
        instance.addContentTypeParser('*', { parseAs: 'string' }, (_request, body, done) => done(null, body));
      },
    });
    const step = `/locks/step?${new URLSearchParams({ do: 'drain', key: KEY }).toString()}`;
    const headers = { 'sec-fetch-site': 'same-origin' };
    const body = new URLSearchParams({ reason: 'why not' });
    const answer = await dashboard.request(step, { method: 'POST', headers, body, redirect: 'manual' });
    expect(answer.status).toBe(303);
    expect(await dashboard.text(`/locks/${answer.headers.get('location')}`)).toContain('4 waits were ended.');
  });
});

interface ContentTypeParsers {
  addContentTypeParser(
    type: string,
    options: { parseAs: 'string' },
    parse: (request: unknown, body: string, done: (error: null, body: string) => void) => void,
  ): void;
}
