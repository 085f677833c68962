export { LockHealthIndicator, LockHealthModule, type LockHealthOptions } from './lock-health.indicator.js';
