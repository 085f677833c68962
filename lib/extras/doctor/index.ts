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
export type {
  CostlyKey,
  CostlyKeyJson,
  ExamineOptions,
  Finding,
  FindingKind,
  FindingSeverity,
  LockExamination,
  LockExaminationJson,
} from './lock-examination.js';
export type { LockHistory, LockHistoryJson } from './lock-history.js';
export type { LockRow, LockRowJson, LockScan, LockScanJson, ScanOptions, ScanProgress } from './lock-scan.js';
export type { WaitGraph, WaitGraphEdge, WaitGraphJson, WaitGraphNode, WaitGraphNodeJson } from './wait-graph.js';
export type { HoldEnd, PastHold, PastHoldJson } from '../../lock/past-hold.js';
