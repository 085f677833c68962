import { describe, expect, it } from '@jest/globals';
import { dashboardSettings, type LockDashboardOptions } from '../../../../lib/extras/dashboard/dashboard-options.js';

class Guard {
  canActivate(): boolean {
    return true;
  }
}
const refusal = (options: object): unknown => {
  try {
    return dashboardSettings(options as LockDashboardOptions);
  } catch (error) {
    return error;
  }
};

describe('The options of the dashboard', () => {
  it.each([
    [{ path: '/locks' }, 'guard: there is none'],
    // As of a guard that is imported in a circle.
    [{ path: '/locks', guard: undefined }, 'unsafe: true'],
    [{ path: '/locks', unsafe: false }, 'guard: there is none'],
    [{ path: '/locks', guard: Guard, unsafe: true }, 'stands beside unsafe'],
    [{ guard: Guard }, 'path: must say'],
    [{ path: '', guard: Guard }, 'path: must say'],
    [{ path: '/locks', guard: Guard, scanEveryMs: 0 }, 'scanEveryMs'],
    [{ path: '/locks', guard: Guard, scanEveryMs: '5s' }, 'scanEveryMs'],
    [{ path: '/locks', guards: [Guard] }, 'guards: is not an option'],
  ])('are refused: %j', (options, text) => {
    expect(refusal(options)).toMatchObject({ code: 'LOCK_CONFIGURATION' });
    expect((refusal(options) as { details: string }).details).toContain(text);
  });

  it('let nobody break, drain or clear unless a hook says so', async () => {
    const settings = dashboardSettings({ path: '/locks', guard: Guard });
    expect(await settings.mayOperate({}, { type: 'break', key: '/a' })).toBe(false);
    expect(settings).toMatchObject({ connection: 'default', scanEveryMs: 5_000 });
    expect(settings.operatorOf({})).toBe('somebody at the lock dashboard');
  });
});
