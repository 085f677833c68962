export { LockHealthIndicator, type LockHealthOptions } from './lock-health.indicator.js';
export { LockHealthModule } from './lock-health.module.js';
