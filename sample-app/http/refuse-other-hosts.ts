import type { IncomingMessage, ServerResponse } from 'node:http';
import { isIP } from 'node:net';

const LOCALHOST = /^(.+\.)?localhost$/;
const LOOPBACK = /^(::ffff:)?127\.|^::1$/;

/**
 * Middleware. The name of somebody's page may be made to lead to this machine, after the page was loaded ("DNS rebinding").
 * For the browser the page is then of this server's origin: it may read and change everything, and all that its requests
 * tell of it is the name. So what comes in by loopback must call this machine by its own name, or by an address.
 */
export function refuseOtherHosts(request: IncomingMessage, response: ServerResponse, next: () => void): void {
  if (!LOOPBACK.test(request.socket.localAddress ?? '') || isOwn(request.headers.host)) {
    next();
    return;
  }
  response.writeHead(421, { 'content-type': 'application/json; charset=utf-8' });
  response.end(JSON.stringify({ statusCode: 421, message: 'On this machine the server is called localhost' }));
}

/** Without a name it is no browser. */
function isOwn(host: string | undefined): boolean {
  if (host === undefined) return true;
  if (!URL.canParse(`http://${host}`)) return false;
  const { hostname } = new URL(`http://${host}`);
  return LOCALHOST.test(hostname) || isIP(hostname.replace(/^\[|\]$/g, '')) !== 0;
}
