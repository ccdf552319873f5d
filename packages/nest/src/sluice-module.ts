import { type DynamicModule, type FactoryProvider, Inject, Module, Optional, type Provider } from '@nestjs/common'
import { APP_GUARD, APP_INTERCEPTOR, type ApplicationConfig, ModuleRef, ModulesContainer } from '@nestjs/core'
import { SluiceError } from '@sluice/node-http/adapter'
import { RouteLimits } from './route-limits.ts'
import { SluiceFilter } from './sluice-filter.ts'
import { SluiceGuard } from './sluice-guard.ts'
import { SluiceInterceptor } from './sluice-interceptor.ts'
import type { SluiceModuleAsyncOptions, SluiceModuleOptions, SluiceModulePlacement } from './sluice-options.ts'

/** Imports that were made: each is told apart, also where Nest knows modules by what they say. */
let made = 0

/** Limits of a Nest application. Imported more than once, its limits stand below one another and count once. */
export class SluiceModule {
  /** Throws where the module is imported without options: it would limit nothing. */
  constructor(limits?: RouteLimits) {
    if (limits) return
    const got = 'got it in `imports` as it is, which limits nothing'
    throw new SluiceError('SLUICE_BAD_OPTION', `SluiceModule: ${got}, expected SluiceModule.forRoot(options)`)
  }

  /** Bad options fail when the application is created, with a code. */
  static forRoot({ global, bind, ...options }: SluiceModuleOptions & SluiceModulePlacement = {}): DynamicModule {
    return moduleOf({ inject: [], useFactory: () => options }, { global, bind })
  }

  static forRootAsync({
    imports = [],
    inject = [],
    useFactory,
    ...placement
  }: SluiceModuleAsyncOptions): DynamicModule {
    return { ...moduleOf({ inject, useFactory }, placement), imports }
  }
}

Module({})(SluiceModule)
Optional()(SluiceModule, undefined as never, 0)
Inject(RouteLimits)(SluiceModule, undefined, 0)

function moduleOf(
  own: Omit<FactoryProvider<SluiceModuleOptions>, 'provide'>,
  { global = true, bind = true }: SluiceModulePlacement,
): DynamicModule {
  const options = { provide: Symbol(`options of SluiceModule ${++made}`), ...own }
  const bound: Provider[] = [
    { provide: APP_GUARD, useExisting: SluiceGuard },
    { provide: APP_INTERCEPTOR, useExisting: SluiceInterceptor },
  ]
  return {
    module: SluiceModule,
    global,
    providers: [options, limitsOf(options.provide), SluiceGuard, SluiceInterceptor, ...(bind ? bound : [])],
    exports: [RouteLimits, SluiceGuard, SluiceInterceptor],
  }
}

function limitsOf(options: symbol): FactoryProvider {
  return {
    provide: RouteLimits,
    inject: [options, ModulesContainer, ModuleRef],
    useFactory: (own: SluiceModuleOptions, modules: ModulesContainer, moduleRef: ModuleRef) => {
      answerLast(moduleRef)
      return RouteLimits.join(modules, own)
    },
  }
}

const answering = new WeakSet<ApplicationConfig>()

/**
 * Filters of the application go before ours, whatever they catch: of global filters the last one is asked first, and
 * providers of `APP_FILTER` come after this. There is no public way to be the first of them.
 */
function answerLast(moduleRef: ModuleRef): void {
  const { container } = moduleRef as unknown as { container?: { applicationConfig?: ApplicationConfig } }
  const config = container?.applicationConfig
  if (!config || answering.has(config)) return
  answering.add(config)
  config.addGlobalFilter(new SluiceFilter())
}
