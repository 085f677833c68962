import { Controller, Get, Inject, ServiceUnavailableException } from '@nestjs/common';
import { ApiOperation, ApiTags } from '@nestjs/swagger';
import { type ConnectionState, isUp, LockService } from 'nestjs-zookeeper-lock';

@ApiTags('operations')
@Controller('health')
export class HealthController {
  constructor(@Inject(LockService) private readonly locks: LockService) {}

  @Get()
  @ApiOperation({ summary: 'For a load balancer: 503 while no lock can be had here.' })
  health(): { status: 'ok'; connection: ConnectionState; pid: number } {
    const connection = this.locks.connectionState;
    if (!isUp(connection)) throw new ServiceUnavailableException({ status: 'down', connection });
    return { status: 'ok', connection, pid: process.pid };
  }
}
