import {
  Controller,
  Get,
  Inject,
  type MessageEvent,
  Post,
  Req,
  Res,
  SetMetadata,
  Sse,
  type Type,
  UseGuards,
  VERSION_NEUTRAL,
} from '@nestjs/common';
import { map, type Observable } from 'rxjs';
import { addressOf } from './address.js';
import { assetNamed } from './assets/assets.js';
import { DASHBOARD_SETTINGS, type DashboardSettings } from './dashboard-options.js';
import { DoneNotes } from './done-notes.js';
import {
  type DashboardRequest,
  type DashboardResponse,
  parametersOf,
  pathOf,
  redirect,
  send,
  sendPage,
} from './exchange.js';
import { formOf } from './form.js';
import { readListQuery } from './list-query.js';
import { LiveLocks } from './live-locks.js';
import { doneNote } from './pages/done-note.js';
import { errorPage } from './pages/error-page.js';
import { graphPage } from './pages/graph-page.js';
import { listPage } from './pages/list-page.js';
import { lockPage } from './pages/lock-page.js';
import { stepPage } from './pages/step-page.js';
import { Refusal, refusalOf } from './refusal.js';
import { isFromOwnPage } from './same-origin.js';
import { SecurityHeadersGuard } from './security-headers.guard.js';
import { allowedFor, checkAllowed, readKey, readStep, takeStep } from './steps.js';

const HALF_A_YEAR_SECONDS = 15_552_000;

/**
 * The pages, their files, and the stream that says when to look again. All pages stand beside each other, so that links between
 * them are relative.
 */
export abstract class DashboardPages {
  constructor(
    private readonly locks: LiveLocks,
    private readonly settings: DashboardSettings,
    private readonly notes: DoneNotes,
  ) {}

  /** The address that people type in. It may end in a slash, or not. */
  @Get()
  start(@Req() request: DashboardRequest, @Res() response: DashboardResponse): void {
    const path = pathOf(request);
    redirect(response, path.endsWith('/') ? 'list' : `${path.slice(path.lastIndexOf('/') + 1)}/list`);
  }

  @Get('list')
  list(@Req() request: DashboardRequest, @Res() response: DashboardResponse): Promise<void> {
    return this.#answer(response, async () => {
      return listPage(await this.locks.scan(), readListQuery(parametersOf(request)), this.settings.connection);
    });
  }

  @Get('lock')
  lock(@Req() request: DashboardRequest, @Res() response: DashboardResponse): Promise<void> {
    return this.#answer(response, async () => {
      const parameters = parametersOf(request);
      const key = readKey(parameters);
      const allowed = await allowedFor(this.settings, request, key);
      const done = this.notes.read(parameters);
      const look = await this.locks.look(key);
      return lockPage(look, allowed, done && doneNote(done), this.settings.connection);
    });
  }

  @Get('graph')
  graph(@Res() response: DashboardResponse): Promise<void> {
    return this.#answer(response, async () => graphPage(await this.locks.graph(), this.settings.connection));
  }

  /** Asks once more. */
  @Get('step')
  confirm(@Req() request: DashboardRequest, @Res() response: DashboardResponse): Promise<void> {
    return this.#answer(response, async () => {
      const step = readStep(parametersOf(request));
      await checkAllowed(this.settings, request, step);
      const look = await this.locks.look(step.key);
      return stepPage(step, look, this.settings.operatorOf(request), this.settings.connection);
    });
  }

  /** Does it. */
  @Post('step')
  step(@Req() request: DashboardRequest, @Res() response: DashboardResponse): Promise<void> {
    const parameters = parametersOf(request);
    const key = parameters.get('key') ?? undefined;
    const act = async (): Promise<undefined> => {
      if (!isFromOwnPage(request.headers)) {
        throw new Refusal(403, 'Not from here', 'The form was not sent by a page of this dashboard. Nothing was done.');
      }
      const step = readStep(parameters);
      await checkAllowed(this.settings, request, step);
      const done = await takeStep(this.locks, step, this.settings.operatorOf(request), await formOf(request));
      redirect(response, this.notes.addressFor(step.key, done));
    };
    return this.#answer(response, act, key === undefined ? 'list' : addressOf('lock', { key }));
  }

  /** Says when to look again, to all at the same moments. */
  @Sse('live')
  live(): Observable<MessageEvent> {
    return this.locks.ticks$.pipe(map((tick) => ({ data: { tick } })));
  }

  @Get('assets/:name')
  asset(@Req() request: DashboardRequest, @Res() response: DashboardResponse): void {
    const path = pathOf(request);
    const found = assetNamed(path.slice(path.lastIndexOf('/') + 1));
    if (found === undefined) {
      const content = { title: 'Not found', text: 'There is no such file.', back: '../list' };
      return sendPage(response, errorPage(content, this.settings.connection), 404);
    }
    const { asset, isExact } = found;
    const cache = isExact ? `private, max-age=${HALF_A_YEAR_SECONDS}, immutable` : 'no-store';
    return send(response, 200, { 'content-type': asset.type, 'cache-control': cache }, asset.text);
  }

  async #answer(response: DashboardResponse, make: () => Promise<string | undefined>, back = 'list'): Promise<void> {
    try {
      const page = await make();
      if (page !== undefined) sendPage(response, page);
    } catch (error) {
      const { status, title, message } = refusalOf(error);
      sendPage(response, errorPage({ title, text: message, back }, this.settings.connection), status);
    }
  }
}

/** A controller class of its own for each dashboard of an application: path and guard are fixed by decorators. */
export function controllerAt({ path, guard }: DashboardSettings): Type<DashboardPages> {
  // The application's versions are not for this page, whatever way it has of telling them apart.
  @Controller({ path, version: VERSION_NEUTRAL })
  @UseGuards(SecurityHeadersGuard, ...(guard === undefined ? [] : [guard]))
  // As @ApiExcludeController of @nestjs/swagger says it: the pages are no part of the application's HTTP API.
  @SetMetadata('swagger/apiExcludeController', [true])
  class LockDashboardController extends DashboardPages {
    constructor(
      @Inject(LiveLocks) locks: LiveLocks,
      @Inject(DASHBOARD_SETTINGS) settings: DashboardSettings,
      @Inject(DoneNotes) notes: DoneNotes,
    ) {
      super(locks, settings, notes);
    }
  }
  return LockDashboardController;
}
