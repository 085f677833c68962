import { isUtf8 } from 'node:buffer';
import { setTimeout as pause } from 'node:timers/promises';
import {
  BadRequestException,
  Body,
  Controller,
  DefaultValuePipe,
  Get,
  HttpCode,
  Inject,
  NotFoundException,
  Param,
  ParseIntPipe,
  Post,
  Put,
  Query,
  Res,
} from '@nestjs/common';
import {
  ApiBadRequestResponse,
  ApiBody,
  ApiConsumes,
  ApiNotFoundResponse,
  ApiOkResponse,
  ApiOperation,
  ApiProduces,
  ApiQuery,
  ApiTags,
} from '@nestjs/swagger';
import { CurrentLock, injected, Locked, type LockHandle } from 'nestjs-zookeeper-lock';
import { FencedFileStore } from 'nestjs-zookeeper-lock/fencing';
import { ApiLockRefusals, ApiWriteRefusals, Refusal } from '../api-refusals.decorator.js';
import { Receipt } from './receipt.js';

const MAX_HOLD_SECONDS = 30;

/** Of Express. */
interface HttpResponse {
  type(contentType: string): unknown;
}

@ApiTags('files')
@Controller('files/:name')
export class FilesController {
  constructor(@Inject(FencedFileStore) private readonly store: FencedFileStore) {}

  @Get()
  @Locked('/locks/files/:name', { mode: 'read' })
  @ApiOperation({ summary: 'The whole text. Readers share the lock; writers wait for them, and they for writers.' })
  @ApiProduces('text/plain')
  @ApiOkResponse({ schema: { type: 'string' } })
  @ApiNotFoundResponse({ type: Refusal, description: 'Nobody has written it yet.' })
  @ApiLockRefusals()
  async read(@Param('name') name: string, @Res({ passthrough: true }) response: HttpResponse): Promise<string> {
    const file = await this.store.read(resourceOf(name));
    if (file === undefined) throw new NotFoundException(`There is no file ${name} yet: PUT or append makes it`);
    // Not by `@Header`: that also marks the JSON of an error, and Nest warns of it.
    response.type('text/plain');
    return file.content.toString();
  }

  @Put()
  @Locked('/locks/files/:name')
  @ApiOperation({ summary: 'Replaces the whole text.' })
  @ApiConsumes('text/plain')
  @ApiBody({ schema: { type: 'string' } })
  @ApiOkResponse({ type: Receipt })
  @ApiWriteRefusals()
  async replace(
    @Param('name') name: string,
    @Body() body: unknown,
    @CurrentLock() lock: LockHandle = injected(),
  ): Promise<Receipt> {
    await this.store.write(resourceOf(name), textOf(body), lock);
    return Receipt.of(name, lock.fencingToken);
  }

  @Post('append')
  @HttpCode(200)
  @Locked('/locks/files/:name')
  @ApiOperation({
    summary: 'Adds the text and a line break to the end; it costs as much as the line, not as the file.',
    description: 'It does not begin a line: a file that ends without a line break goes on in its last line.',
  })
  @ApiConsumes('text/plain')
  @ApiBody({ schema: { type: 'string' } })
  @ApiOkResponse({ type: Receipt })
  @ApiWriteRefusals()
  async append(
    @Param('name') name: string,
    @Body() body: unknown,
    @CurrentLock() lock: LockHandle = injected(),
  ): Promise<Receipt> {
    await this.store.append(resourceOf(name), `${textOf(body)}\n`, lock);
    return Receipt.of(name, lock.fencingToken);
  }

  @Post('hold')
  @HttpCode(200)
  @Locked('/locks/files/:name')
  @ApiOperation({ summary: 'Keeps the file locked for a while, as an editor that has it open: others queue up.' })
  @ApiQuery({ name: 'seconds', required: false, example: 5 })
  @ApiOkResponse({ type: Receipt })
  @ApiBadRequestResponse({ type: Refusal })
  @ApiLockRefusals()
  async hold(
    @Param('name') name: string,
    @Query('seconds', new DefaultValuePipe(5), ParseIntPipe) seconds: number,
    @CurrentLock() lock: LockHandle = injected(),
  ): Promise<Receipt> {
    if (seconds < 1 || seconds > MAX_HOLD_SECONDS) {
      throw new BadRequestException(`seconds must be 1 to ${MAX_HOLD_SECONDS}`);
    }
    await pause(seconds * 1000, undefined, { signal: lock.signal });
    return Receipt.of(name, lock.fencingToken);
  }
}

/** As the key of its lock ends. */
function resourceOf(name: string): string {
  return `files/${name}`;
}

/** @throws BadRequestException for bytes that are no text: they would come back as others */
function textOf(body: unknown): string {
  if (body === undefined) return '';
  if (!Buffer.isBuffer(body)) throw new BadRequestException('Send the text as it is, with Content-Type: text/plain');
  if (!isUtf8(body)) throw new BadRequestException('These files are for text in UTF-8, and the body is none');
  return body.toString();
}
