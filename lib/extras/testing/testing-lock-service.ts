import { ManagedLockService, type Opened } from '../../nest/managed-lock-service.js';
import { openLockService } from '../../open.js';
import type { ResolvedOptions } from '../../options.js';
import { TestingWorld } from './testing-world.js';

/** The module's own lock service, over a server in memory that lives and ends with it. */
export class TestingLockService extends ManagedLockService {
  readonly world: TestingWorld;

  constructor(name: string, options: ResolvedOptions) {
    super(name, options);
    this.world = new TestingWorld(options);
  }

  /** Does not warn about locks in memory: whoever uses this module knows that they exclude no other process. */
  protected override judgeOptions(): void {}

  protected override openService(): Opened {
    return openLockService(this.options, this.world.surroundings);
  }

  override async abandonStart(): Promise<void> {
    await super.abandonStart();
    await this.world.close();
  }

  override async onApplicationShutdown(): Promise<void> {
    // A test may leave the connection suspended, and the session ends at once only over a link.
    this.world.entrance.accept();
    await super.onApplicationShutdown();
    await this.world.close();
  }
}
