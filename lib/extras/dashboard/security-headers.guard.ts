import { type CanActivate, type ExecutionContext, Injectable } from '@nestjs/common';
import type { DashboardResponse } from './exchange.js';

const HEADERS: Readonly<Record<string, string>> = {
  // A page has no script and no style in itself, so that nothing that somebody wrote into ZooKeeper can become one; and it asks
  // no other server for anything.
  'content-security-policy': [
    `default-src 'none'`,
    `script-src 'self'`,
    `style-src 'self'`,
    `connect-src 'self'`,
    `img-src 'self' data:`,
    `form-action 'self'`,
    `frame-ancestors 'none'`,
    `base-uri 'none'`,
  ].join('; '),
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
  // With no-referrer browsers hide from the server that a form comes from its own page.
  'referrer-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
};

/** Lets everybody pass, and stands in front of the application's guard: so the answer to who is refused has these headers, too. */
@Injectable()
export class SecurityHeadersGuard implements CanActivate {
  canActivate(context: ExecutionContext): boolean {
    const response = context.switchToHttp().getResponse<DashboardResponse>();
    for (const [name, value] of Object.entries(HEADERS)) response.header(name, value);
    return true;
  }
}
