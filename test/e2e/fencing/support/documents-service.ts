import { mkdtemp, rm } from 'node:fs/promises';
import type { AddressInfo, Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Body, Controller, Get, Inject, Injectable, type INestApplication, Param, Put } from '@nestjs/common';
import { APP_FILTER, type AbstractHttpAdapter } from '@nestjs/core';
import { Test } from '@nestjs/testing';
import { FencedFileStore } from '../../../../lib/fencing/file-store/fenced-file-store.js';
import { FenceToken, RequireFence } from '../../../../lib/fencing/http/fence.decorators.js';
import { FencingModule } from '../../../../lib/fencing/http/fencing.module.js';
import type { FencingModuleOptions } from '../../../../lib/fencing/http/fencing-options.js';
import { LockExceptionFilter } from '../../../../lib/index.js';

export interface Saved {
  readonly id: string;
  readonly text: string;
  readonly token: bigint;
}

/** What handlers did, in order. */
@Injectable()
export class Documents {
  readonly saved: Saved[] = [];
}

@Controller('documents')
export class DocumentsController {
  constructor(@Inject(Documents) private readonly documents: Documents) {}

  @Put(':id')
  @RequireFence('/locks/documents/:id')
  save(@Param('id') id: string, @Body() { text }: { text: string }, @FenceToken() token: bigint): object {
    this.documents.saved.push({ id, text, token });
    return { id, token: String(token) };
  }

  @Get(':id')
  read(@Param('id') id: string): object {
    return { id };
  }
}

/** One instance of a service that protects its documents against stale callers. */
export interface DocumentsService extends AsyncDisposable {
  readonly app: INestApplication;
  readonly url: string;
  readonly saved: readonly Saved[];
  /** Saves a document with these headers. */
  put(id: string, headers?: Record<string, string>, text?: string): Promise<Answer>;
}

export interface Answer {
  readonly status: number;
  readonly body: Record<string, unknown>;
  readonly headers: Headers;
}

export async function startDocumentsService(
  options: FencingModuleOptions,
  { adapter, filter = true }: { adapter?: AbstractHttpAdapter; filter?: boolean } = {},
): Promise<DocumentsService> {
  const module = await Test.createTestingModule({
    imports: [FencingModule.forRoot(options)],
    controllers: [DocumentsController],
    providers: [Documents, ...(filter ? [{ provide: APP_FILTER, useValue: new LockExceptionFilter() }] : [])],
  }).compile();
  const app =
    adapter === undefined
      ? module.createNestApplication({ logger: false })
      : module.createNestApplication(adapter, { logger: false });
  await app.listen(0, '127.0.0.1');
  const url = urlOf(app);
  return {
    app,
    url,
    saved: app.get(Documents).saved,
    put: (id, headers = {}, text = 'text') => answerOf(`${url}/documents/${id}`, text, headers),
    [Symbol.asyncDispose]: () => app.close(),
  };
}

export function urlOf(app: INestApplication): string {
  return `http://127.0.0.1:${((app.getHttpServer() as Server).address() as AddressInfo).port}`;
}

async function answerOf(url: string, text: string, headers: Record<string, string>): Promise<Answer> {
  const response = await fetch(url, {
    method: 'PUT',
    body: JSON.stringify({ text }),
    headers: { 'content-type': 'application/json', ...headers },
  });
  return {
    status: response.status,
    body: (await response.json()) as Record<string, unknown>,
    headers: response.headers,
  };
}

/** A folder of a test's own with the marks of several instances, each with a store of its own over it. */
export async function sharedMarks(): Promise<AsyncDisposable & { open(): Promise<FencedFileStore> }> {
  const root = await mkdtemp(join(tmpdir(), 'fencing-marks-'));
  const stores: FencedFileStore[] = [];
  return {
    async open() {
      const store = await FencedFileStore.open({ root });
      stores.push(store);
      return store;
    },
    async [Symbol.asyncDispose]() {
      await Promise.all(stores.map((store) => store.close()));
      await rm(root, { recursive: true, force: true });
    },
  };
}
