import { ConfigurableModuleBuilder, type DynamicModule, Module, type Provider } from '@nestjs/common';
import { ApplicationConfig, DiscoveryModule, DiscoveryService } from '@nestjs/core';
import { FenceExplorer } from './fence-explorer.js';
import { FENCING, type FencingModuleOptions, type ResolvedFencing, resolveFencingOptions } from './fencing-options.js';

/** What stands beside the options, as Nest must know it before it has them. */
export interface FencingExtras {
  /** Whether the controllers of every module may use `@RequireFence` without importing this one. @default true */
  readonly isGlobal?: boolean;
}

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
  // Without the transform, extras do nothing.
  .setExtras<FencingExtras>({ isGlobal: true }, addGuardsNeeds)
  .build();

/**
 * What `@RequireFence` needs: where the highest tokens are kept, and the keys of those that sign. Import it once in the
 * root module: `FencingModule.forRoot({ marks, keys })`, or `forRootAsync` where they are other providers.
 */
@Module({ imports: [DiscoveryModule] })
export class FencingModule extends ConfigurableModuleClass {}

async function resolveAndCheck(options: FencingModuleOptions): Promise<ResolvedFencing> {
  const fencing = resolveFencingOptions(options);
  await fencing.marks.check?.();
  return fencing;
}

function addGuardsNeeds(definition: DynamicModule, { isGlobal = true }: FencingExtras): DynamicModule {
  const providers: Provider[] = [
    { provide: FENCING, useFactory: resolveAndCheck, inject: [RAW_OPTIONS] },
    {
      provide: FenceExplorer,
      useFactory: (discovery: DiscoveryService, config: ApplicationConfig, { keys }: ResolvedFencing) =>
        new FenceExplorer(discovery, config, { isGlobal, hasKeys: keys !== undefined }),
      inject: [DiscoveryService, ApplicationConfig, FENCING],
    },
  ];
  return {
    ...definition,
    global: isGlobal,
    providers: [...(definition.providers ?? []), ...providers],
    exports: [FENCING],
  };
}
