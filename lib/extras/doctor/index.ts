export type { BreakOptions, BreakOutcome, BreakResult } from './break-lock.js';
export type { ClearOptions, ClearResult, ClearResultJson } from './clear-record.js';
export type { DoctorEvent, DoctorEventJson, DoctorLogger } from './audit.js';
export type { LockDoctorOptions } from './doctor-options.js';
export type { DrainOptions, DrainResult } from './drain-queue.js';
export { createLockDoctor } from './create-lock-doctor.js';
export { LockDoctor } from './lock-doctor.js';
