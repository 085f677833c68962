import { Connection, type ConnectionOwner } from '../../../../lib/session/core/connection.js';
import type { Traffic } from '../../../../lib/session/core/conversation.js';
import { SingleCall } from './single-call.js';
import type { Proof } from '../../../../lib/session/core/link.js';
import type { Passage } from '../../../../lib/session/core/proof-of-life.js';
import type { Request } from '../../../../lib/session/requests.js';
import { ManualClock } from '../../support/manual-clock.js';
import { ScriptedDialer, type ScriptedLink } from '../../support/scripted-dialer.js';

export const NEW_SESSION = { sessionId: 0n, password: new Uint8Array(16), lastZxid: 0n, timeoutMs: 6_000 };
export const OLD_SESSION = { ...NEW_SESSION, sessionId: 7n };

/** One connection, what it told its owner, and what passed over it. */
export class ConnectionProbe implements ConnectionOwner, Traffic {
  readonly clock = new ManualClock();
  readonly dialer = new ScriptedDialer();
  readonly told: string[] = [];
  readonly answered: { sentAt: number; answeredAt: number; proof: Proof }[] = [];
  readonly connection: Connection;

  constructor(offer = NEW_SESSION, chroot = '') {
    const context = { clock: this.clock, dialer: this.dialer, chroot, owner: this, traffic: this };
    this.connection = new Connection({ host: 'zk', port: 1 }, offer, 1_000, context);
  }

  static attached(chroot = ''): ConnectionProbe {
    const probe = new ConnectionProbe(NEW_SESSION, chroot);
    probe.link.grant(6_000);
    probe.connection.startLiveness(6_000, 2_000);
    return probe;
  }

  get link(): ScriptedLink {
    return this.dialer.last;
  }

  send(request: Request): SingleCall {
    const call = new SingleCall(request);
    this.connection.conversation.send(call);
    // Looked at by the tests that mean it.
    call.promise.catch(() => undefined);
    return call;
  }

  onAttached(): void {
    this.told.push('attached');
  }
  onExpired(): void {
    this.told.push('expired');
  }
  onEnded(_: Connection, ending: string, cause: Error): void {
    this.told.push(`${ending}: ${cause.message}`);
  }
  onAuthFailed(errorNumber: number): void {
    this.told.push(`auth failed ${errorNumber}`);
  }
  onEvent(): void {
    this.told.push('event');
  }
  onAnswered({ sentAt }: Passage, answeredAt: number, proof: Proof): void {
    this.answered.push({ sentAt, answeredAt, proof });
  }
  onWatchSet(): void {
    this.told.push('watch set');
  }

  onWatchNotSet(): void {
    this.told.push('watch not set');
  }
}
