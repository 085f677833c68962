import { Controller, HttpCode, Inject, Post } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiProperty, ApiServiceUnavailableResponse, ApiTags } from '@nestjs/swagger';
import { Refusal } from '../api-refusals.decorator.js';
import { SweepJob } from './sweep.job.js';

class Run {
  @ApiProperty({ description: 'false: an instance is at it, or has just been.' })
  readonly ran!: boolean;

  @ApiProperty({ required: false, example: 0, description: 'Temporary files of writers that crashed.' })
  readonly removed?: number;
}

@ApiTags('jobs')
@Controller('jobs')
export class JobsController {
  constructor(@Inject(SweepJob) private readonly job: SweepJob) {}

  @Post('sweep')
  @HttpCode(200)
  @ApiOperation({ summary: 'Runs the job that the schedule runs, unless some instance has just run it.' })
  @ApiOkResponse({ type: Run })
  @ApiServiceUnavailableResponse({ type: Refusal, description: 'No ZooKeeper, or the lock was lost.' })
  async sweep(): Promise<Run> {
    const sweep = await this.job.sweep();
    return sweep === undefined ? { ran: false } : { ran: true, removed: sweep.removed };
  }
}
