import { describe, expect, it } from '@jest/globals';
import { LockConfigurationError } from '../../../../lib/lock/errors.js';
import { RecordingClient, scriptedPackage } from '../../../support/native/scripted-package.js';
import { eventually } from '../../../support/process/eventually.js';

describe('A package that cannot be loaded', () => {
  it('is an error of configuration for each client, also for one that comes later', async () => {
    const packagePath = scriptedPackage('throw new Error("compiled for another Node.js");');
    for (let attempt = 0; attempt < 2; attempt += 1) {
      const { causes } = new RecordingClient(packagePath);
      await eventually('it was told', () => causes.length > 0);

      expect(causes).toEqual([expect.any(LockConfigurationError)]);
      expect(causes[0]!.message).toContain('compiled for another Node.js');
    }
  });
});
