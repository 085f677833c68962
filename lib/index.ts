export { type ClosableLockService, createLockService } from './open.js';
export type { AlertThresholds, DigestAuth, DistributedLockOptions, KerberosAuth } from './options.js';
export { type AcquireAllOptions, type KeyWithMode, LockService, type LockTransaction } from './engine/lock-service.js';
export { currentLock, detached } from './engine/bounds/owner-context.js';
export type {
  AbandonedLock,
  AbandonedLockJson,
  AbandonedPolicy,
  VanishedHolder,
  VanishedHolderJson,
} from './lock/abandoned.js';
export type { AcquireOptions } from './lock/acquire-options.js';
export { type AcquireMessage, type HoldMessage, LOCK_CHANNELS } from './lock/channels.js';
export {
  DeadlockError,
  InvalidFencingTokenError,
  InvalidLockKeyError,
  LockAbandonedError,
  LockAbortedError,
  LockClosedError,
  LockConfigurationError,
  LockError,
  type LockErrorCode,
  type LockErrorJson,
  LockLostError,
  LockQueueFullError,
  LockTimeoutError,
  LockUnavailableError,
  type LossEvidence,
  StaleFencingTokenError,
} from './lock/errors.js';
export { LockBrokenError, LockDrainedError } from './lock/intervention-errors.js';
export type { LockEvent, LockEventJson, LossReason } from './lock/events.js';
export { LockHandle, type LockScope, MultiLockHandle, type UpgradeOptions } from './lock/handle.js';
export type { LockMode } from './lock/mode.js';
export type { ForeignErrorJson } from './lock/json.js';
export type { HeldLockFacts, PendingLockFacts, ProcessLocks, ProcessLocksJson } from './lock/process-locks.js';
export type {
  ClientDescription,
  ClientDescriptionJson,
  ContenderSnapshot,
  ContenderSnapshotJson,
  LockSnapshot,
  LockSnapshotJson,
  LockState,
} from './lock/snapshot.js';
export {
  type DistributedLockAsyncOptions,
  type DistributedLockExtras,
  DistributedLockModule,
  type DistributedLockOptionsFactory,
} from './nest/distributed-lock.module.js';
export { LockExceptionFilter } from './nest/lock-exception.filter.js';
export { getLockServiceToken, InjectLock } from './nest/lock-service-token.js';
export type { KeyValue } from './nest/locked/locked-types.js';
export { lockKey, type LockKeyValues } from './nest/locked/key-template.js';
export { Locked } from './nest/locked/locked.decorator.js';
export type { LockedOptions, LockedReturn, LockLoss } from './nest/locked/locked-options.js';
export { CurrentLock, Fence, injected, LockKey } from './nest/locked/parameter.decorators.js';
export { Recover, type RecoveredValues, type RecoverOptions } from './nest/locked/recover.decorator.js';
export { type ConnectionState, isUp } from './session/connection-state.js';
