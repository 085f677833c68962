import { rm } from 'node:fs/promises';
import { type FactoryProvider, Inject, Injectable, type OnApplicationShutdown } from '@nestjs/common';
import { FencedFileStore } from 'nestjs-zookeeper-lock/fencing';
import { SETTINGS, type Settings } from '../settings.js';

/**
 * Files that refuse whoever comes with the token of a lock that is over. The lock keeps the instances apart as long as all
 * goes well; when one of them was stopped for longer than its session, this is what keeps its late write out. It is given
 * the lock, not its token alone: so a write also waits while the lock is in doubt.
 */
export const fileStore: FactoryProvider<FencedFileStore> = {
  provide: FencedFileStore,
  inject: [SETTINGS],
  useFactory: ({ dataDir }: Pick<Settings, 'dataDir'>) => FencedFileStore.open({ root: dataDir }),
};

/** Nest knows how to end what it made itself, and a factory made the store. No later run could use temporary files. */
@Injectable()
export class FileStoreEnd implements OnApplicationShutdown {
  constructor(
    @Inject(FencedFileStore) private readonly store: FencedFileStore,
    @Inject(SETTINGS) private readonly settings: Pick<Settings, 'dataDir' | 'isDataDirTemporary'>,
  ) {}

  async onApplicationShutdown(): Promise<void> {
    await this.store.close();
    const { dataDir, isDataDirTemporary } = this.settings;
    if (isDataDirTemporary) await rm(dataDir, { recursive: true, force: true });
  }
}
