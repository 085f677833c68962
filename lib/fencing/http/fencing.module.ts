import { ConfigurableModuleBuilder, Global, Module } from '@nestjs/common';
import { DiscoveryModule } from '@nestjs/core';
import { FenceExplorer } from './fence-explorer.js';
import { FENCING, type FencingModuleOptions, type ResolvedFencing, resolveFencingOptions } from './fencing-options.js';

/** For `useClass` and `useExisting`. */
export interface FencingOptionsFactory {
  createFencingOptions(): FencingModuleOptions | Promise<FencingModuleOptions>;
}

const RAW_OPTIONS = Symbol('FencingModule options');

const { ConfigurableModuleClass } = new ConfigurableModuleBuilder<FencingModuleOptions>({
  moduleName: 'Fencing',
  optionsInjectionToken: RAW_OPTIONS,
})
  .setClassMethodName('forRoot')
  .setFactoryMethodName('createFencingOptions')
  .build();

/**
 * What `@RequireFence` needs: where the highest tokens are kept, and the keys of those that sign. Import it once in the
 * root module: `FencingModule.forRoot({ marks, keys })`, or `forRootAsync` where they are other providers.
 */
@Global()
@Module({
  imports: [DiscoveryModule],
  providers: [{ provide: FENCING, useFactory: resolveAndCheck, inject: [RAW_OPTIONS] }, FenceExplorer],
  exports: [FENCING],
})
export class FencingModule extends ConfigurableModuleClass {}

async function resolveAndCheck(options: FencingModuleOptions): Promise<ResolvedFencing> {
  const fencing = resolveFencingOptions(options);
  await fencing.marks.check?.();
  return fencing;
}
