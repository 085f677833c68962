import type { WatchEvent, Watcher } from '../../../lib/session/requests.js';

/** Writes down what it is told, as `type path`, and when. */
export class RecordingWatcher implements Watcher {
  readonly told: string[] = [];
  readonly toldAt: number[] = [];

  constructor(private readonly now: () => number = () => performance.now()) {}

  onWatchEvent({ type, path }: WatchEvent): void {
    this.told.push(`${type} ${path}`);
    this.toldAt.push(this.now());
  }
}
