import type { IncomingMessage, ServerResponse } from 'node:http';

/** Scripts are files of this server, never part of a page: what a visitor wrote cannot become one. */
const CONTENT_SECURITY_POLICY = [
  `default-src 'self'`,
  `script-src 'self'`,
  `img-src 'self' data:`,
  `object-src 'none'`,
  `base-uri 'none'`,
  `form-action 'self'`,
  `frame-ancestors 'none'`,
];
/** The page of the HTTP API has its styles in itself. */
const OF_THE_API_PAGE = [...CONTENT_SECURITY_POLICY, `style-src 'self' 'unsafe-inline'`];
const API_PAGE = '/docs';

/** Middleware: on every answer, errors included. */
export function setSecurityHeaders(request: IncomingMessage, response: ServerResponse, next: () => void): void {
  const policy = request.url?.startsWith(API_PAGE) === true ? OF_THE_API_PAGE : CONTENT_SECURITY_POLICY;
  response.setHeader('Content-Security-Policy', policy.join('; '));
  response.setHeader('X-Content-Type-Options', 'nosniff');
  // For browsers that know no frame-ancestors.
  response.setHeader('X-Frame-Options', 'DENY');
  response.setHeader('Referrer-Policy', 'no-referrer');
  response.setHeader('Cross-Origin-Resource-Policy', 'same-origin');
  next();
}
