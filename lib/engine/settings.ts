import type { LockScope } from '../lock/handle.js';

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
  readonly machine?: { readonly host: string; readonly pid: number } | undefined;
}
