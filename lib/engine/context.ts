import type { Clock } from '../lock/clock.js';
import type { LockScope } from '../lock/handle.js';
import type { Session } from '../session/session.js';
import type { Alarms } from './bounds/alarms.js';
import type { Doorway } from './acquire/doorway.js';
import type { HoldHistory } from './hold/hold-history.js';
import type { Holders } from './upkeep/holders.js';
import type { Identifiers } from './bounds/identifiers.js';
import type { Interrupts } from './bounds/interrupts.js';
import type { Janitor } from './upkeep/janitor.js';
import type { LockEvents } from './lock-events.js';
import type { Outbox } from './upkeep/outbox.js';
import type { Parents } from './upkeep/parents.js';
import type { Sightings } from './policy/sightings.js';
import type { Uplink } from './upkeep/uplink.js';

/** What the engine was told once, resolved and checked. */
export interface EngineSettings {
  /** '' or the absolute path in front of every key. */
  readonly namespace: string;
  /** 'process': the degraded mode, over an ensemble in memory. Its locks have no token. */
  readonly scope: LockScope;
  readonly waitMs: number;
  /** How long calls wait for the first connection before they wait for their lock. */
  readonly connectTimeoutMs: number;
  readonly shutdownGraceMs: number;
  readonly onSuspended: 'continue' | 'stop';
  /** 0: none. */
  readonly lockDelayMs: number;
  /** Names this lock service and its contenders; the simulator's is seeded. */
  readonly randomUuid: () => string;
  /** In [0, 1). */
  readonly random: () => number;
  /** Where this process says that it runs. @default this machine, and the process's own number */
  readonly machine?: Pick<ClientIdentity, 'host' | 'pid'> | undefined;
}

/** What the parts of one lock service share. */
export interface EngineContext {
  readonly session: Session;
  readonly clock: Clock;
  readonly settings: EngineSettings;
  readonly client: ClientIdentity;
  readonly identifiers: Identifiers;
  readonly uplink: Uplink;
  readonly outbox: Outbox;
  readonly alarms: Alarms;
  readonly interrupts: Interrupts;
  readonly janitor: Janitor;
  readonly parents: Parents;
  readonly sightings: Sightings;
  readonly holders: Holders;
  readonly history: HoldHistory;
  readonly events: LockEvents;
  /** Only where locks of this process stand in for those of the fleet: the two have one. */
  readonly doorway: Doorway | undefined;
}

/** What a lock service has in common with the one that stands in for it. */
export type SharedParts = Pick<EngineContext, 'events' | 'doorway'>;

/** Who this lock service is, as its contenders tell others. */
export interface ClientIdentity {
  readonly clientId: string;
  readonly host: string;
  readonly pid: number;
}
