import type { IncomingMessage, ServerResponse } from 'node:http';

const READING: readonly string[] = ['GET', 'HEAD', 'OPTIONS'];
/** What a browser says of a request that the page itself made, or its user by the address bar. */
const OWN: readonly string[] = ['same-origin', 'none'];

/**
 * Middleware. Anybody's page can make a browser send a form, or text, to this server, with no question asked beforehand, and
 * the browser reaches what is bound to loopback. So what changes something must come from a page of this server, or from
 * no page at all (curl): browsers tell where from, and no page can make them tell something else.
 */
export function refuseOtherOrigins(request: IncomingMessage, response: ServerResponse, next: () => void): void {
  if (READING.includes(request.method ?? '') || isOwn(request)) {
    next();
    return;
  }
  response.writeHead(403, { 'content-type': 'application/json; charset=utf-8' });
  response.end(JSON.stringify({ statusCode: 403, message: 'Pages of other origins may not change anything here' }));
}

function isOwn({ headers }: IncomingMessage): boolean {
  const site = headers['sec-fetch-site'];
  if (site !== undefined) return OWN.includes(String(site));
  const { origin, host } = headers;
  return origin === undefined || hostOf(origin) === (host ?? '');
}

function hostOf(origin: string): string | undefined {
  return URL.canParse(origin) ? new URL(origin).host : undefined;
}
