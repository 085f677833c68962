import { describe, expect, it } from '@jest/globals';
import { SessionError } from '../../../../lib/session/errors.js';
import { HeartbeatRig, S } from './heartbeat-rig.js';

const QUARTER = S / 4;

describe('A heartbeat that the servers refuse', () => {
  it.each(['NO_AUTH', 'QUOTA_EXCEEDED', 'THROTTLED', 'NO_NODE', 'CLOSED'] as const)(
    'is told for %s to whoever waits for proof, and the servers are not hammered',
    async (code) => {
      const rig = new HeartbeatRig('/app');
      rig.latencyMs = 0;
      rig.start();
      await rig.advance(S - 1_000);
      rig.refuse = () => code;
      rig.heartbeat.hold();
      await rig.clock.advance(1_500);
      const proved = rig.heartbeat.prove(0);
      const failed = expect(proved).rejects.toMatchObject({ code });
      await rig.advance(4 * S);
      await failed;
      expect(rig.writes.length).toBeLessThan((5 * S) / QUARTER + 5);
    },
  );

  it('is forgotten with a new link: the first write over that does not wait', async () => {
    const rig = new HeartbeatRig();
    await rig.advance(S);
    rig.refuse = () => 'CONNECTION_LOSS';
    rig.start();
    rig.heartbeat.hold();
    await rig.clock.advance(100);
    expect(rig.writes).toHaveLength(1);
    rig.heartbeat.stop(new SessionError('CONNECTION_LOSS', 'cut'));
    rig.start();
    expect(rig.writes).toHaveLength(2);
  });

  it('is told as that, not as a missing node, if its parent may not be made', async () => {
    const rig = new HeartbeatRig('/app');
    rig.clock.block(S);
    rig.start();
    rig.refuse = ({ op, ...rest }) =>
      op === 'create' && 'path' in rest && rest.path === '/app' ? 'NO_AUTH' : 'NO_NODE';
    const failed = expect(rig.heartbeat.prove(0)).rejects.toMatchObject({ code: 'NO_AUTH' });
    await rig.advance(S);
    await failed;
  });

  it('is sent all the same where its parent may not be made and is there', async () => {
    const rig = new HeartbeatRig('/app');
    rig.start();
    rig.refuse = (request) => ('path' in request && request.path === '/app' ? 'NO_AUTH' : undefined);
    rig.heartbeat.hold();
    await rig.advance(S);
    expect(rig.writes[1]?.requests).toEqual(['set /app/.sessions/0x1234']);
  });
});
