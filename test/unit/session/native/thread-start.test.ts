import { describe, expect, it, jest } from '@jest/globals';
import { eventually } from '../../../support/process/eventually.js';

jest.unstable_mockModule('node:worker_threads', () => ({
  Worker: class {
    constructor() {
      throw new Error('Access to this API has been restricted');
    }
  },
}));
const { RecordingClient } = await import('../../../support/native/scripted-package.js');

describe('A thread that cannot be started', () => {
  it('is told to its clients, each time, and is no unhandled rejection', async () => {
    for (let attempt = 0; attempt < 2; attempt += 1) {
      const { told, causes } = new RecordingClient('/nowhere');
      await eventually('it was told', () => told.length > 0);

      expect([told, causes.map(({ message }) => message)]).toEqual([
        ['down'],
        ['Access to this API has been restricted'],
      ]);
    }
  });
});
