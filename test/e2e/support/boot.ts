import { Test, type TestingModule } from '@nestjs/testing';

export type Imports = NonNullable<Parameters<typeof Test.createTestingModule>[0]['imports']>;

/** Starts an application without servers; one that does not start is closed, as its process would end. */
export async function boot(
  imports: Imports,
  providers: (new (...args: never[]) => unknown)[] = [],
): Promise<TestingModule> {
  const module = await Test.createTestingModule({ imports, providers }).compile();
  module.useLogger(false);
  try {
    return await module.init();
  } catch (error) {
    await module.close();
    throw error;
  }
}
