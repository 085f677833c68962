import { Test } from '@nestjs/testing';
import type { Imports } from '../../support/boot.js';

type AnyClass = new (...args: never[]) => object;

/** Starts an application and ends it. @throws what its boot does */
export async function start(controllers: AnyClass[], imports: Imports = [], providers: AnyClass[] = []): Promise<void> {
  const module = await Test.createTestingModule({ imports, controllers, providers }).compile();
  const app = module.createNestApplication({ logger: false });
  try {
    await app.init();
  } finally {
    await app.close();
  }
}
