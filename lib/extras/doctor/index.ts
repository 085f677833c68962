export type { BreakOptions, BreakOutcome, BreakResult } from './break-lock.js';
export type { ClearOptions, ClearResult, ClearResultJson } from './clear-record.js';
export type { DoctorEvent, DoctorEventJson, DoctorLogger } from './audit.js';
export type { LockDoctorOptions } from './doctor-options.js';
export type { DrainOptions, DrainResult } from './drain-queue.js';
export { checkEnsemble, type EnsembleCheckOptions } from './check-ensemble.js';
export type {
  CheckItem,
  CheckName,
  CheckOutcome,
  CommitTimes,
  EnsembleCheck,
  EnsembleCheckFacts,
  EnsembleMeasures,
} from './ensemble-check.js';
export type { ServerReport } from './server-report.js';
export { createLockDoctor } from './create-lock-doctor.js';
export { LockDoctor } from './lock-doctor.js';
