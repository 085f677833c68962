import { BadRequestException, Controller, Inject, type MessageEvent, Param, Query, Sse } from '@nestjs/common';
import { ApiBadRequestResponse, ApiOperation, ApiParam, ApiQuery, ApiTags } from '@nestjs/swagger';
import { LockService } from 'nestjs-zookeeper-lock';
import { map, merge, type Observable } from 'rxjs';
import { Refusal } from '../api-refusals.decorator.js';
import { checkedKey, keyOfPath } from './key-of-path.js';
import { lockView } from './lock-view.js';

const MAX_KEYS = 20;

/**
 * What changes, as it changes. Hints for people to look at: what is to be decided is decided under the lock. The streams end
 * with the application.
 */
@ApiTags('operations')
@Controller('events')
export class EventsController {
  constructor(@Inject(LockService) private readonly locks: LockService) {}

  @Sse('connection')
  @ApiOperation({ summary: 'The state of the link to ZooKeeper, the current one first.' })
  connection(): Observable<MessageEvent> {
    return this.#connection();
  }

  @Sse('locks/*key')
  @ApiOperation({ summary: 'Holders and queue of one lock.' })
  @ApiParam({ name: 'key', example: 'files/journal' })
  lock(@Param('key') segments: string | string[]): Observable<MessageEvent> {
    return this.#lock(keyOfPath(segments));
  }

  /** One stream for a page: browsers allow six connections to a server, and streams keep theirs. */
  @Sse()
  @ApiOperation({ summary: 'The connection and several locks in one stream.' })
  @ApiQuery({ name: 'key', isArray: true, example: ['/locks/files/journal'] })
  @ApiBadRequestResponse({ type: Refusal, description: 'No key of this application, or too many.' })
  all(@Query('key') given: string | string[] = []): Observable<MessageEvent> {
    const keys = [given].flat();
    if (keys.length > MAX_KEYS) throw new BadRequestException(`${MAX_KEYS} keys at most`);
    return merge(this.#connection(), ...keys.map((key) => this.#lock(checkedKey(key))));
  }

  #connection(): Observable<MessageEvent> {
    return this.locks.connectionState$.pipe(map((state) => ({ type: 'connection', data: { state } })));
  }

  #lock(key: string): Observable<MessageEvent> {
    return this.locks.watch(key).pipe(map((snapshot) => ({ type: 'lock', data: lockView(snapshot) })));
  }
}
