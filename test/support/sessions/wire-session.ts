import { once } from 'node:events';
import { createServer, type AddressInfo, type Socket } from 'node:net';
import { systemClock } from '../../../lib/lock/clock.js';
import type { Server } from '../../../lib/session/core/link.js';
import { SessionClient } from '../../../lib/session/core/session-client.js';
import { isUp } from '../../../lib/session/connection-state.js';
import type { SessionSettings } from '../../../lib/session/options.js';
import { type DialerSettings, SocketDialer } from '../../../lib/session/wire/socket-dialer.js';
import { eventually } from '../process/eventually.js';

export interface WireOptions extends Partial<Omit<SessionSettings, 'servers'>> {
  readonly dialer?: Omit<DialerSettings, 'acl'>;
}

const openSessions = new Set<SessionClient>();

/** For `afterEach`: a test that fails must not leave a session that keeps the process alive. */
export async function closeOpenSessions(): Promise<void> {
  const sessions = [...openSessions];
  openSessions.clear();
  await Promise.all(sessions.map((session) => session.close(200)));
}

/** @returns the session, which `closeOpenSessions` will close */
export function closedAfterwards(session: SessionClient): SessionClient {
  openSessions.add(session);
  return session;
}

/** Takes the servers in the order in which they are listed: the shuffle then moves nothing. */
export const IN_LISTED_ORDER = (): number => 1 - Number.EPSILON;

/** A session over sockets, with the servers at these ports or of these names; for a tick of 500 ms, and the most that it grants. */
export function openWire(servers: readonly (number | Server)[], options: WireOptions = {}): SessionClient {
  const { dialer, ...overrides } = options;
  const settings: SessionSettings = {
    servers: servers.map((server) => (typeof server === 'number' ? { host: '127.0.0.1', port: server } : server)),
    chroot: '',
    sessionTimeoutMs: 10_000,
    serverTickMs: 500,
    namespace: '',
    auth: [],
    acl: [{ permissions: 31, scheme: 'world', id: 'anyone' }],
    clock: systemClock,
    random: Math.random,
    ...overrides,
  };
  return closedAfterwards(new SessionClient(settings, new SocketDialer({ ...dialer, acl: settings.acl })));
}

export async function untilUp(session: SessionClient, withinMs = 10_000): Promise<void> {
  await eventually('the session is up', () => isUp(session.state), {
    withinMs,
    everyMs: 5,
    explain: () => `It is ${session.state}. ${session.describeFailures()}`,
  });
}

export async function untilState(
  session: SessionClient,
  state: SessionClient['state'],
  withinMs?: number,
): Promise<void> {
  const options = { everyMs: 2, ...(withinMs === undefined ? {} : { withinMs }) };
  await eventually(`the state is ${state}`, () => session.state === state, options);
}

export interface FakeServer extends AsyncDisposable {
  readonly port: number;
  readonly sockets: readonly Socket[];
}

/** Something that listens where a ZooKeeper should, and does as it is told. */
export async function startFakeServer(onConnection: (socket: Socket) => void): Promise<FakeServer> {
  const sockets: Socket[] = [];
  const server = createServer((socket) => {
    sockets.push(socket);
    socket.on('error', () => socket.destroy());
    onConnection(socket);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    sockets,
    [Symbol.asyncDispose]: async () => {
      for (const socket of sockets) socket.destroy();
      server.close();
    },
  };
}
