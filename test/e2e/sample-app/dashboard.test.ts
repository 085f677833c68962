import { describe, expect, it } from '@jest/globals';
import { LockService } from '../../../lib/index.js';
import { settingsFrom } from '../../../sample-app/settings.js';
import { startSampleApp } from './support/start-sample-app.js';

const KEY = '/locks/files/journal';
const basic = (text: string) => ({ authorization: `Basic ${Buffer.from(text).toString('base64')}` });

describe('the dashboard of the sample application', () => {
  it('is for this machine alone where no password was given, and shows the locks', async () => {
    expect(settingsFrom({}).operatorPassword).toBeUndefined();
    await using sample = await startSampleApp();
    await using lock = await sample.get(LockService).acquire(KEY, { label: 'the holder' });
    expect(lock.isHeld()).toBe(true);
    const page = await sample.request('/dashboard');
    expect([page.status, page.url]).toEqual([200, `${sample.url}/dashboard/list`]);
    expect(await page.text()).toContain('the holder');
    expect(page.headers.get('content-security-policy')).toContain(`default-src 'none'`);
  });

  it('asks operators for the password that was given, and names in the log who breaks a lock', async () => {
    const { operatorPassword } = settingsFrom({ OPERATOR_PASSWORD: 'correct horse' });
    await using sample = await startSampleApp({ operatorPassword: operatorPassword! });
    for (const headers of [{}, basic('ada:wrong'), basic('correct horse'), { authorization: 'Basic' }]) {
      const refused = await sample.request('/dashboard/list', { headers });
      expect(refused.status).toBe(401);
      expect(refused.headers.get('www-authenticate')).toContain('Basic');
    }
    const headers = { ...basic('ada:correct horse'), 'sec-fetch-site': 'same-origin' };
    expect((await sample.request('/dashboard/list', { headers })).status).toBe(200);

    const stuck = await sample.get(LockService).acquire(KEY);
    stuck.signal.addEventListener('abort', () => void stuck.release());
    const query = new URLSearchParams({ do: 'break', key: KEY, token: String(stuck.fencingToken) }).toString();
    const body = new URLSearchParams({ reason: 'stuck since noon', grace: '60' });
    const done = await sample.request(`/dashboard/step?${query}`, { method: 'POST', headers, body });
    expect(await done.text()).toContain('The work of its holder had ended in time');
    expect(stuck.signal.reason).toMatchObject({ code: 'LOCK_BROKEN', by: 'ada', reason: 'stuck since noon' });
  });
});
