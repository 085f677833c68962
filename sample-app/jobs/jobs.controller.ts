import { Controller, HttpCode, Inject, Post } from '@nestjs/common';
import { ApiOperation, ApiTags } from '@nestjs/swagger';
import { SweepJob } from './sweep.job.js';

@ApiTags('jobs')
@Controller('jobs')
export class JobsController {
  constructor(@Inject(SweepJob) private readonly job: SweepJob) {}

  @Post('sweep')
  @HttpCode(200)
  @ApiOperation({ summary: 'Runs the job that the schedule runs, unless some instance has just run it.' })
  async sweep(): Promise<{ ran: boolean; removed?: number }> {
    const sweep = await this.job.sweep();
    return sweep === undefined ? { ran: false } : { ran: true, removed: sweep.removed };
  }
}
