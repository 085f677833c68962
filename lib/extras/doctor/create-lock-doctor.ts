import { createLockService } from '../../open.js';
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
