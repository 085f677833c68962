import { describe, expect, it } from '@jest/globals';
import { settingsFrom } from '../../../sample-app/settings.js';

describe('the settings of the sample application', () => {
  it('have a folder of its own for an embedded run, and no run takes away the files of a fleet', () => {
    const embedded = settingsFrom({ DATA_DIR: '/srv/files' });
    expect(embedded.dataDir).toMatch(/^\/srv\/files\/embedded-\d+-\d+$/);
    expect(embedded.isDataDirTemporary).toBe(true);

    const fleet = settingsFrom({ DATA_DIR: '/srv/files', ZOOKEEPER_CONNECT: 'localhost:2181' });
    expect(fleet).toMatchObject({ dataDir: '/srv/files', isDataDirTemporary: false });
  });
});
