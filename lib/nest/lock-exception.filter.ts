import {
  type ArgumentsHost,
  Catch,
  type ExceptionFilter,
  InternalServerErrorException,
  Optional,
} from '@nestjs/common';
import { type Observable, throwError } from 'rxjs';
import { LockError, LockQueueFullError } from '../lock/errors.js';
import { logRefusal } from './log-lock-error.js';

/** The members that responses of both Express and Fastify have. */
interface HttpResponse {
  readonly headersSent?: boolean;
  readonly sent?: boolean;
  readonly raw?: { end(): unknown };
  end?(): unknown;
  header(name: string, value: string): unknown;
  status(code: number): { send(body: object): unknown };
}

/** A socket of Socket.IO, or of `ws`. That one has an `emit`, too, but only for listeners in this process. */
interface WebSocketClient {
  readonly readyState?: number;
  send(text: string): unknown;
  emit(event: string, payload: object): unknown;
}

const SERVICE_UNAVAILABLE = 503;
const DEFAULT_RETRY_AFTER_SECONDS = 5;
const MS_PER_SECOND = 1_000;

/**
 * Answers lock errors with their `code` in the body, and with `Retry-After` where another try may find the lock service
 * back (503), or a place in the queue (429: by how long the lock was held lately, where that is known). Without it Nest
 * answers with the same status and `{ statusCode, message }`.
 *
 * `app.useGlobalFilters(new LockExceptionFilter())`, or `{ provide: APP_FILTER, useValue: new LockExceptionFilter() }`.
 * Message handlers fail with `{ status: 'error', statusCode, code, message }`, and the clients of a gateway that has it in
 * `@UseFilters` (global filters do not reach gateways) get that as the event `exception`.
 */
@Catch(LockError)
export class LockExceptionFilter implements ExceptionFilter<LockError> {
  readonly #retryAfterSeconds: number;

  /** Nobody provides the options where `@UseFilters(LockExceptionFilter)` makes Nest build the filter: it has its defaults then. */
  constructor(@Optional() options: { readonly retryAfterSeconds?: number } = {}) {
    this.#retryAfterSeconds = options.retryAfterSeconds ?? DEFAULT_RETRY_AFTER_SECONDS;
  }

  /**
   * Tells the log, once, what the answer does not say: for filters of your own. A busy lock, or a mistake of the caller, is told
   * at the level debug; an unavailable server is a warning, a lock that is misused an error.
   */
  static logDetails(error: LockError): void {
    logRefusal(error);
  }

  catch(error: LockError, host: ArgumentsHost): Observable<never> | undefined {
    LockExceptionFilter.logDetails(error);
    switch (host.getType<string>()) {
      case 'http':
        this.#answer(error, host.switchToHttp().getResponse<HttpResponse>());
        return undefined;
      case 'rpc':
        return throwError(() => ({ status: 'error', ...this.bodyOf(error) }));
      case 'ws':
        this.#tell(error, host.switchToWs().getClient<WebSocketClient>());
        return undefined;
      default:
        // GraphQL shows its clients the text of whatever is thrown.
        throw error.expose ? error : new InternalServerErrorException();
    }
  }

  /** The part of the error that the outside may see. */
  protected bodyOf(error: LockError): { statusCode: number; code: string; message: string } {
    const message = error.expose ? error.message : 'Internal server error';
    return { statusCode: error.status, code: error.code, message };
  }

  #tell(error: LockError, client: WebSocketClient): void {
    const payload = { status: 'error', ...this.bodyOf(error) };
    if (typeof client.readyState === 'number') client.send(JSON.stringify({ event: 'exception', data: payload }));
    else client.emit('exception', payload);
  }

  /** @returns whole seconds, one at the least; undefined for an error that another try does not help */
  #retryAfterSecondsOf(error: LockError): number | undefined {
    if (error instanceof LockQueueFullError && error.retryAfterMs !== undefined)
      return Math.max(1, Math.ceil(error.retryAfterMs / MS_PER_SECOND));
    const helps = error instanceof LockQueueFullError || error.status === SERVICE_UNAVAILABLE;
    return helps ? this.#retryAfterSeconds : undefined;
  }

  #answer(error: LockError, response: HttpResponse): void {
    // A stream has begun, so it is too late for a status.
    if (response.headersSent === true || response.sent === true) return void (response.raw?.end() ?? response.end?.());
    const seconds = this.#retryAfterSecondsOf(error);
    if (seconds !== undefined) response.header('Retry-After', String(seconds));
    response.status(error.status).send(this.bodyOf(error));
  }
}
