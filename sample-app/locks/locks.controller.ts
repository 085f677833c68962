import { Controller, Get, Inject, Param } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiParam, ApiServiceUnavailableResponse, ApiTags } from '@nestjs/swagger';
import { LockService } from 'nestjs-zookeeper-lock';
import { Refusal } from '../api-refusals.decorator.js';
import { keyOfPath } from './key-of-path.js';
import { type LockView, lockView } from './lock-view.js';

@ApiTags('operations')
@Controller('locks')
export class LocksController {
  constructor(@Inject(LockService) private readonly locks: LockService) {}

  @Get('*key')
  @ApiOperation({ summary: 'Who holds a lock and who waits, as the ensemble has it now.' })
  @ApiParam({ name: 'key', example: 'files/journal' })
  @ApiOkResponse({ description: 'Its state, holders and queue.' })
  @ApiServiceUnavailableResponse({ type: Refusal, description: 'No ZooKeeper.' })
  async inspect(@Param('key') segments: string | string[]): Promise<LockView> {
    return lockView(await this.locks.inspect(keyOfPath(segments)));
  }
}
