import { type LockService, openBeside } from '../../engine/lock-service.js';
import { createLockService } from '../../open.js';
import type { DoctorLogger } from './audit.js';
import { checkDoctorOptions, type LockDoctorOptions } from './doctor-options.js';
import { LockDoctor } from './lock-doctor.js';

/**
 * Opens a doctor, with the options of the application's own connection. Close it when done (`await using`, or `close()`).
 * @throws LockConfigurationError for options that make no sense, LockUnavailableError when no ZooKeeper answers in time
 */
export async function createLockDoctor(options: LockDoctorOptions): Promise<LockDoctor> {
  checkDoctorOptions(options);
  const { logger, ...connection } = options;
  return new LockDoctor(await createLockService(connection), logger);
}

/**
 * Opens a doctor with the options of a connection of the application, and a session of its own.
 * @throws LockUnavailableError when no ZooKeeper answers in time
 */
export async function createDoctorBeside(locks: LockService, logger: DoctorLogger): Promise<LockDoctor> {
  return new LockDoctor(await locks[openBeside](), logger);
}
