import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { Controller, Get, Inject, UseFilters } from '@nestjs/common';
import { FencedFileStore } from '../../../lib/fencing/index.js';
import { LockExceptionFilter } from '../../../lib/index.js';
import { temporaryRoot } from '../../unit/fencing/file-store/support/temporary-root.js';
import { startApplication } from '../support/application.js';
import { recordRefusals } from '../support/refusals.js';

@Controller()
class Reports {
  constructor(@Inject(FencedFileStore) private readonly store: FencedFileStore) {}

  @Get('plain')
  async plain(): Promise<string | undefined> {
    return (await this.store.read('tenants/acme'))?.content.toString();
  }

  @Get('filtered')
  @UseFilters(LockExceptionFilter)
  filtered(): Promise<string | undefined> {
    return this.plain();
  }
}

describe('a controller that reads a damaged journal outside of any lock', () => {
  it('says nothing of it to who called, and has it in the log once, where the store was told to', async () => {
    const root = temporaryRoot();
    {
      await using store = await FencedFileStore.open({ root });
      for (const token of [5n, 9n]) await store.claim('tenants/acme', token);
    }
    const journal = join(root, 'tenants%2Facme', 'journal.0');
    const bytes = await readFile(journal);
    bytes[bytes.indexOf('claim')]! ^= 1;
    await writeFile(journal, bytes);

    const onDamage = LockExceptionFilter.logDetails.bind(LockExceptionFilter);
    await using store = await FencedFileStore.open({ root, onDamage });
    const providers = [{ provide: FencedFileStore, useValue: store }];
    await using application = await startApplication({ controllers: [Reports], providers });
    using log = recordRefusals();
    for (const path of ['plain', 'filtered']) {
      const response = await fetch(`${application.url}/${path}`);
      expect([response.status, (await response.text()).includes('acme')]).toEqual([500, false]);
      expect(log.take()).toEqual([expect.stringContaining(`${journal} is damaged between byte`)]);
    }
  });
});
