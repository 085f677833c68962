import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ThreadClient, type ThreadClientListener } from '../../../lib/session/native/thread.js';

/** A package in the place of `zookeeper`, for what the real one cannot be made to do. @returns its path */
export function scriptedPackage(source: string): string {
  const path = join(mkdtempSync(join(tmpdir(), 'package-')), 'index.cjs');
  writeFileSync(path, source);
  return path;
}

/** A client of the thread, with all that it was told, as text but for the causes. */
export class RecordingClient implements ThreadClientListener {
  readonly told: string[] = [];
  readonly causes: Error[] = [];
  readonly client: ThreadClient;

  constructor(packagePath: string, connect = '127.0.0.1:1') {
    this.client = new ThreadClient(packagePath, this);
    this.client.open(connect, 4_000, undefined);
  }

  onUp(): void {
    this.told.push('up');
  }

  onAnswer(number: number, rc: number, values: readonly unknown[]): void {
    this.told.push(`answer ${number}: ${[rc, ...values].join(' ')}`);
  }

  onEvent(type: string, path: string): void {
    this.told.push(`${type} ${path}`);
  }

  onExpired(): void {
    this.told.push('expired');
  }

  onSessionClosed(): void {
    this.told.push('closed');
  }

  onDown(cause: Error): void {
    this.told.push('down');
    this.causes.push(cause);
    this.client.leave();
  }
}
