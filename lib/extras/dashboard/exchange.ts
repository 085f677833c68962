import type { IncomingHttpHeaders } from 'node:http';

/** Requests of Express and of Fastify have these members alike. */
export interface DashboardRequest {
  readonly headers: IncomingHttpHeaders;
  readonly url: string;
  /** Of Express: the address in front of what a router has taken off. */
  readonly originalUrl?: string;
  readonly body?: unknown;
  /** Of Fastify: Node's own request. */
  readonly raw?: unknown;
}

/**
 * Answers of Express and of Fastify have these members alike. The pages are sent by them: what a handler returns may be wrapped by an
 * interceptor of the application.
 */
export interface DashboardResponse {
  status(code: number): unknown;
  header(name: string, value: string): unknown;
  send(body: string): unknown;
}

export function parametersOf({ url }: DashboardRequest): URLSearchParams {
  return new URL(url, 'http://localhost').searchParams;
}

/** The address as the browser wrote it, as far as it is known here: without what stands behind `?`. */
export function pathOf({ originalUrl, url }: DashboardRequest): string {
  return new URL(originalUrl ?? url, 'http://localhost').pathname;
}

const PAGE_HEADERS: Readonly<Record<string, string>> = {
  'content-type': 'text/html; charset=utf-8',
  'cache-control': 'no-store',
};

export function sendPage(response: DashboardResponse, page: string, status = 200): void {
  send(response, status, PAGE_HEADERS, page);
}

/** To an address relative to the one of the request. The browser then asks for it by GET. */
export function redirect(response: DashboardResponse, location: string): void {
  send(response, 303, { location, 'cache-control': 'no-store' }, '');
}

export function send(
  response: DashboardResponse,
  status: number,
  headers: Readonly<Record<string, string>>,
  body: string,
): void {
  response.status(status);
  for (const [name, value] of Object.entries(headers)) response.header(name, value);
  response.send(body);
}
