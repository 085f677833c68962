import type { HealthIndicatorService } from '@nestjs/terminus';
import { LockConfigurationError } from '../../lock/errors.js';

/**
 * Loads Terminus when the application starts, and not with this file: a static import that fails ends the process
 * before an error could say what to install.
 *
 * @throws LockConfigurationError where the package is not installed
 */
export async function loadTerminus(
  load: () => Promise<{ readonly HealthIndicatorService: new () => HealthIndicatorService }> = () =>
    import('@nestjs/terminus'),
): Promise<HealthIndicatorService> {
  try {
    const terminus = await load();
    return new terminus.HealthIndicatorService();
  } catch (error) {
    throw new LockConfigurationError(
      'LockHealthIndicator (nestjs-zookeeper-lock/terminus) needs the package @nestjs/terminus, which could not be ' +
        `loaded. Install it: npm install @nestjs/terminus. (${error instanceof Error ? error.message : String(error)})`,
      undefined,
      { cause: error },
    );
  }
}
