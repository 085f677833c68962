export { DistributedLockTestingModule } from './distributed-lock-testing.module.js';
export { getLockTestingToken, InjectLockTesting } from './lock-testing-token.js';
export { type BusyOptions, LockTesting } from './lock-testing.js';
export { overrideLocks, type OverridableBuilder } from './override-locks.js';
export { provideLockTesting } from './provide-lock-testing.js';
export type { LockTestingOptions } from './testing-options.js';
