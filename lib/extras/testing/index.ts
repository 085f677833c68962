export {
  DistributedLockTestingModule,
  getLockTestingToken,
  InjectLockTesting,
  overrideLocks,
  type OverridableBuilder,
  provideLockTesting,
} from './distributed-lock-testing.module.js';
export { type AbandonOptions, type BusyOptions, LockTesting } from './lock-testing.js';
export type { LockTestingOptions } from './testing-lock-service.js';
