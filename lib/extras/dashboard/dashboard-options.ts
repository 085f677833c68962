import type { CanActivate, ModuleMetadata, Type } from '@nestjs/common';
import { LockConfigurationError } from '../../lock/errors.js';

/** A visitor asks to do this to a lock. */
export interface DashboardOperation {
  readonly type: 'break' | 'drain' | 'clear';
  readonly key: string;
}

export interface LockDashboardOptions {
  /** The pages are at this path, below the global prefix of the application, if it has one: `/locks`. */
  readonly path: string;
  /**
   * Decides who may look: a guard of the application, which runs in front of every answer. It must let browsers in by what they send
   * by themselves (a cookie, or `Authorization: Basic`). What it injects must be global, or be exported by one of `imports`.
   */
  readonly guard?: Type<CanActivate> | CanActivate;
  /**
   * `true`: there is no guard, and whoever reaches the server may look at all locks (and do what `mayOperate` allows). For your own
   * machine. @default false
   */
  readonly unsafe?: boolean;
  /** The modules that export what the guard injects. */
  readonly imports?: NonNullable<ModuleMetadata['imports']>;
  /**
   * Decides who may break, drain and clear. It is asked in front of each, and for the buttons of a page. It has the request as the
   * guard left it, with the user. @default nobody may
   */
  mayOperate?(request: object, operation: DashboardOperation): boolean | Promise<boolean>;
  /**
   * Names who breaks, drains or clears, for holders, waiters and the log: at most 200 characters.
   * @default 'somebody at the lock dashboard'
   */
  operatorOf?(request: object): string;
  /** The connection whose locks are shown, where there are several: the `name` of its module. @default 'default' */
  readonly connection?: string;
  /**
   * The pages may be this old, in milliseconds. While somebody looks, the keys are read once in each such interval, however many
   * look. @default 5000
   */
  readonly scanEveryMs?: number;
}

/** Injection token. */
export const DASHBOARD_SETTINGS = Symbol('LockDashboardModule settings');

/** With every default. */
export interface DashboardSettings extends LockDashboardOptions {
  readonly connection: string;
  readonly scanEveryMs: number;
  mayOperate(request: object, operation: DashboardOperation): boolean | Promise<boolean>;
  operatorOf(request: object): string;
}

/** A scan of 10 000 keys takes about as long. */
const SHORTEST_INTERVAL_MS = 500;
/** A day. */
const LONGEST_INTERVAL_MS = 86_400_000;
const KNOWN: Readonly<Record<keyof LockDashboardOptions, true>> = {
  path: true,
  guard: true,
  unsafe: true,
  imports: true,
  mayOperate: true,
  operatorOf: true,
  connection: true,
  scanEveryMs: true,
};

/** @throws LockConfigurationError for options that make no sense, above all for pages that nobody guards */
export function dashboardSettings(options: LockDashboardOptions): DashboardSettings {
  const { path, guard, unsafe = false, scanEveryMs = 5_000, connection = 'default' } = options;
  const unknown = Object.keys(options).find((name) => !Object.hasOwn(KNOWN, name));
  refuseIf(unknown !== undefined, `${unknown}: is not an option (the options are: ${Object.keys(KNOWN).join(', ')})`);
  refuseIf(typeof path !== 'string' || path === '', "path: must say where the pages are, such as '/locks'");
  refuseIf(typeof unsafe !== 'boolean', 'unsafe: must be true or false');
  refuseIf(
    guard === undefined && !unsafe,
    'guard: there is none, so anybody could look at all locks. Give a guard class of your application, or say unsafe: true on ' +
      'your own machine. (A guard that is imported in a circle is undefined here.)',
  );
  refuseIf(
    guard !== undefined && unsafe,
    'guard: stands beside unsafe: true, which says that there is none. Give one of them',
  );
  refuseIf(
    !Number.isFinite(scanEveryMs) || scanEveryMs < SHORTEST_INTERVAL_MS || scanEveryMs > LONGEST_INTERVAL_MS,
    `scanEveryMs: must be a number of milliseconds from ${SHORTEST_INTERVAL_MS} to ${LONGEST_INTERVAL_MS}`,
  );
  return {
    ...options,
    connection,
    scanEveryMs,
    mayOperate: (request, operation) => options.mayOperate?.(request, operation) ?? false,
    operatorOf: (request) => options.operatorOf?.(request) ?? 'somebody at the lock dashboard',
  };
}

function refuseIf(isWrong: boolean, text: string): void {
  if (isWrong) throw new LockConfigurationError(`LockDashboardModule.forRoot: ${text}`);
}
