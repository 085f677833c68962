import { describe, expect, it } from '@jest/globals';
import { hostFrom, settingsFrom, whoReaches } from '../../../sample-app/settings.js';

describe('the settings of the sample application', () => {
  it('have a folder of its own for an embedded run, and no run takes away the files of a fleet', () => {
    const embedded = settingsFrom({ DATA_DIR: '/srv/files' });
    expect(embedded.dataDir).toMatch(/^\/srv\/files\/embedded-\d+-\d+$/);
    expect(embedded.isDataDirTemporary).toBe(true);

    const fleet = settingsFrom({ DATA_DIR: '/srv/files', ZOOKEEPER_CONNECT: 'localhost:2181' });
    expect(fleet).toMatchObject({ dataDir: '/srv/files', isDataDirTemporary: false });
  });

  it('bind to loopback unless HOST says otherwise, and say who can reach it', () => {
    for (const environment of [{}, { HOST: '' }]) expect(hostFrom(environment)).toBe('127.0.0.1');
    expect(hostFrom({ HOST: '0.0.0.0' })).toBe('0.0.0.0');
    expect(whoReaches('127.0.0.1')).toContain('Only this machine reaches it (127.0.0.1). HOST=0.0.0.0 lets others in');
    expect(whoReaches('10.0.0.7')).toContain('It listens on 10.0.0.7 (HOST)');
  });
});
