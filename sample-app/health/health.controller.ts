import { Controller, Get, Inject, ServiceUnavailableException } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiProperty, ApiServiceUnavailableResponse, ApiTags } from '@nestjs/swagger';
import { LockHealthIndicator } from 'nestjs-zookeeper-lock/terminus';

class Health {
  @ApiProperty({ example: 'ok' })
  readonly status!: string;

  @ApiProperty({ example: 'connected' })
  readonly connection!: string;

  @ApiProperty({ example: 4711 })
  readonly pid!: number;
}

/** With other indicators beside this one, it is `HealthCheckService.check([() => this.locks.isHealthy('locks'), ...])`. */
@ApiTags('operations')
@Controller('health')
export class HealthController {
  constructor(@Inject(LockHealthIndicator) private readonly indicator: LockHealthIndicator) {}

  @Get()
  @ApiOperation({ summary: 'For a load balancer: 503 while no lock can be had here.' })
  @ApiOkResponse({ type: Health })
  @ApiServiceUnavailableResponse({ description: 'Not connected to ZooKeeper.' })
  async health(): Promise<Health> {
    const { locks } = await this.indicator.isHealthy('locks');
    const connection = locks.state as string;
    if (locks.status !== 'up') throw new ServiceUnavailableException({ status: 'down', connection });
    return { status: 'ok', connection, pid: process.pid };
  }
}
