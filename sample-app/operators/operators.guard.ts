import { createHash, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { type CanActivate, type ExecutionContext, UnauthorizedException } from '@nestjs/common';

const LOOPBACK = /^(::ffff:)?127\.|^::1$/;

/**
 * Lets operators in: with the password that the sample was given (the browser asks for it), or without one from this machine alone. A
 * service of yours asks whom it has logged in.
 */
export class OperatorsGuard implements CanActivate {
  /** @param password undefined where there is none */
  constructor(private readonly password: string | undefined) {}

  canActivate(context: ExecutionContext): boolean {
    const request = context.switchToHttp().getRequest<IncomingMessage>();
    if (this.password === undefined) return LOOPBACK.test(request.socket.remoteAddress ?? '');
    if (isSame(credentialsIn(request).password, this.password)) return true;
    const response = context.switchToHttp().getResponse<ServerResponse>();
    response.setHeader('WWW-Authenticate', 'Basic realm="Operators", charset="UTF-8"');
    throw new UnauthorizedException('Operators only');
  }
}

/** The name that an operator has typed in beside the password. */
export function operatorIn(request: object): string {
  const { name } = credentialsIn(request as IncomingMessage);
  return name === '' ? 'an operator of the sample' : name;
}

function credentialsIn({ headers }: IncomingMessage): { readonly name: string; readonly password: string } {
  const [scheme, encoded = ''] = (headers.authorization ?? '').split(' ');
  const text = scheme?.toLowerCase() === 'basic' ? Buffer.from(encoded, 'base64').toString('utf8') : '';
  const colon = text.indexOf(':');
  if (colon === -1) return { name: '', password: '' };
  return { name: text.slice(0, colon), password: text.slice(colon + 1) };
}

/** Takes as long for any wrong password. */
function isSame(one: string, other: string): boolean {
  const [left, right] = [one, other].map((text) => createHash('sha256').update(text).digest());
  return timingSafeEqual(left!, right!);
}
