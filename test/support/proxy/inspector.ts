import type { Unit } from './lane.js';

/** What an inspector may do to the connection it looks at. */
export interface ConnectionControls {
  /** Counts the connections of a proxy from 1. */
  readonly connectionId: number;
  /** Sends something of the proxy's own to the client, behind what is already on its way. */
  answer(unit: Unit): void;
}

/** Looks at the bytes of one connection: cuts them into units, and decides what becomes of each. */
export interface Inspector {
  /** The units that go on to the server. */
  toServer(chunk: Buffer): Unit[];
  /** The units that go on to the client. */
  toClient(chunk: Buffer): Unit[];
  /** The connection is over. */
  closed?(): void;
}

export type InspectorFactory = (controls: ConnectionControls) => Inspector;

/** Sees nothing, lets everything pass. */
export const blindInspector: InspectorFactory = () => ({
  toServer: (chunk) => [{ bytes: chunk }],
  toClient: (chunk) => [{ bytes: chunk }],
});
