import { Module } from '@nestjs/common';
import { LockHealthIndicator } from './lock-health.indicator.js';

/** Import this next to `TerminusModule`, in the module with the health controller. */
@Module({ providers: [LockHealthIndicator], exports: [LockHealthIndicator] })
export class LockHealthModule {}
