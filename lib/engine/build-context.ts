import { hostname } from 'node:os';
import type { Session } from '../session/session.js';
import { Alarms } from './bounds/alarms.js';
import type { EngineContext, EngineSettings, SharedParts } from './context.js';
import { HoldHistory } from './hold/hold-history.js';
import { Holders } from './upkeep/holders.js';
import { Identifiers } from './bounds/identifiers.js';
import { Interrupts } from './bounds/interrupts.js';
import { Janitor } from './upkeep/janitor.js';
import { LockEvents } from './lock-events.js';
import { notRemoved } from './upkeep/not-removed.js';
import { Outbox } from './upkeep/outbox.js';
import { Parents } from './upkeep/parents.js';
import { Sightings } from './policy/sightings.js';
import { Uplink } from './upkeep/uplink.js';

/** Puts the parts of one lock service together. The janitor hears of a new link first, so that leftovers go first. */
export function buildContext(
  session: Session,
  settings: EngineSettings,
  { events, doorway }: SharedParts = { events: new LockEvents(), doorway: undefined },
): EngineContext {
  const uplink = new Uplink(session);
  const janitor = new Janitor(session, uplink, (path, error) =>
    events.next(notRemoved(settings.namespace, path, error)),
  );
  const alarms = new Alarms(session.clock);
  return {
    session,
    settings,
    uplink,
    outbox: new Outbox(session, alarms),
    janitor,
    alarms,
    events,
    doorway,
    clock: session.clock,
    identifiers: new Identifiers(settings.randomUuid()),
    client: { clientId: settings.randomUuid(), ...(settings.machine ?? { host: hostname(), pid: process.pid }) },
    interrupts: new Interrupts(alarms),
    // A key with a lock-delay remembers its last holder between holds.
    parents: new Parents(settings.lockDelayMs > 0 ? 'persistent' : 'container'),
    sightings: new Sightings(session.clock),
    holders: new Holders(session, alarms, uplink, settings.onSuspended),
    history: new HoldHistory(),
  };
}
