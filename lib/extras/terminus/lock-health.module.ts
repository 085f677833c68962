import { Module } from '@nestjs/common';
import { LockHealthIndicator } from './lock-health.indicator.js';

/** Import it beside `TerminusModule`, in the module that has the health controller. */
@Module({ providers: [LockHealthIndicator], exports: [LockHealthIndicator] })
export class LockHealthModule {}
