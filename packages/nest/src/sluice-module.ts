import { type DynamicModule, type FactoryProvider, Inject, Module, Optional, type Provider } from '@nestjs/common'
import { APP_GUARD, APP_INTERCEPTOR, type ApplicationConfig, ModuleRef, ModulesContainer } from '@nestjs/core'
import { processWideMap, SluiceError } from '@sluice/node-http/adapter'
import { RouteLimits } from './route-limits.ts'
import { SluiceFilter } from './sluice-filter.ts'
import { SluiceGuard } from './sluice-guard.ts'
import { SluiceInterceptor } from './sluice-interceptor.ts'
import {
  asyncOptions,
  forRootOptions,
  type SluiceModuleAsyncOptions,
  type SluiceModuleOptions,
  type SluiceModulePlacement,
} from './sluice-options.ts'

/** Number of imports created. It makes each import unique, because Nest merges dynamic modules with equal content. */
let imported = 0

/**
 * Limits a Nest application. If it is imported several times, a later import inherits the limits of the earlier ones,
 * and no request is counted twice.
 */
export class SluiceModule {
  /** Throws if the module is imported without `forRoot` or `forRootAsync`, because it would limit nothing. */
  constructor(limits?: RouteLimits) {
    if (limits) return
    const expected = 'expected SluiceModule.forRoot(options) in `imports`'
    throw new SluiceError('SLUICE_BAD_OPTION', `SluiceModule: ${expected}, received SluiceModule, which limits nothing`)
  }

  /** Imports the module. Invalid options throw coded errors when the application is created. */
  static forRoot(options: SluiceModuleOptions & SluiceModulePlacement = {}): DynamicModule {
    const { global, bind } = (options ?? {}) as SluiceModulePlacement
    return moduleOf({ inject: [], useFactory: () => forRootOptions(options) }, { global, bind })
  }

  /** Imports the module with options from a factory, which can inject providers. Throws `SLUICE_BAD_OPTION`. */
  static forRootAsync(options: SluiceModuleAsyncOptions): DynamicModule {
    const { imports = [], inject = [], useFactory, ...placement } = asyncOptions(options)
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
  const options = { provide: Symbol(`options of SluiceModule ${++imported}`), ...own }
  const bound: Provider[] = [
    { provide: APP_GUARD, useExisting: SluiceGuard },
    {
      provide: APP_INTERCEPTOR,
      inject: [RouteLimits, SluiceInterceptor],
      // Nest ignores an interceptor that is undefined
      useFactory: (limits: RouteLimits, all: SluiceInterceptor) => (limits.claimInterceptor() ? all : undefined),
    },
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

const answering = processWideMap<ApplicationConfig, true>(Symbol.for('sluice.nest.answering@1'))

/**
 * Adds the filter so that filters of the application run before it: Nest asks the last global filter first, and adds
 * `APP_FILTER` providers later. Nest has no public API to add the first global filter.
 */
function answerLast(moduleRef: ModuleRef): void {
  const { container } = moduleRef as unknown as { container?: { applicationConfig?: ApplicationConfig } }
  const config = container?.applicationConfig
  if (!config || answering().has(config)) return
  answering().set(config, true)
  config.addGlobalFilter(new SluiceFilter())
}
