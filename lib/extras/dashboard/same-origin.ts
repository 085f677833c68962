import type { IncomingHttpHeaders } from 'node:http';

/**
 * Tells whether a form comes from a page of this server. Any page can make a browser send a form here, with the cookies that the guard
 * trusts; but browsers tell where it comes from, and no page can make them tell something else. A request that tells nothing is
 * refused as well: every browser of these days tells.
 */
export function isFromOwnPage(headers: IncomingHttpHeaders): boolean {
  const site = headers['sec-fetch-site'];
  // Browsers send it where the address is https or this machine.
  if (site !== undefined) return site === 'same-origin';
  const { origin, host } = headers;
  return origin !== undefined && URL.canParse(origin) && new URL(origin).host === host;
}
