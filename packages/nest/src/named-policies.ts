import { optionsOf, SluiceError, shown } from '@sluice/node-http/adapter'
import { type Backend, memoryBackend } from '@sluice/node-http/words'
import type { NestRateOptions } from './layer-at.ts'
import type { SluiceModuleOptions } from './sluice-options.ts'

type Policies = NonNullable<SluiceModuleOptions['policies']>

/** Policies that wait to be named. Each has one count, wherever it is named. */
export class NamedPolicies {
  readonly #options = new Map<string, NestRateOptions>()

  /** Of an import of the module; a later one replaces what has the same name. Throws where a name stands there twice. */
  add({ policies = [], backend, clock, rateLimit }: SluiceModuleOptions): void {
    if (policies.length === 0) return
    const time = clock ?? rateLimit?.clock
    const shared = {
      backend: backend ?? rateLimit?.backend ?? ownMemory(time),
      scope: scopeIn(rateLimit?.scope),
      shared: true,
    }
    const names = new Set<string>()
    for (const policy of policies) {
      const name = nameOf(policy)
      if (names.has(name)) {
        const message = `policies: expected names of their own, received two named ${shown(name, 'name')}`
        throw new SluiceError('SLUICE_DUPLICATE_POLICY', message)
      }
      names.add(name)
      this.#options.set(name, { ...(time && { clock: time }), ...shared, policies: [policy] } as NestRateOptions)
    }
  }

  get all(): readonly NestRateOptions[] {
    return [...this.#options.values()]
  }

  readonly named = (name: string): NestRateOptions => {
    const options = this.#options.get(name)
    if (options) return options
    const names =
      [...this.#options.keys()].map((one) => shown(one, 'name')).join(', ') || 'policies in SluiceModule.forRoot'
    throw new SluiceError(
      'SLUICE_UNKNOWN_POLICY',
      `@RateLimit: expected one of ${names}, received ${shown(name, 'name')}`,
    )
  }
}

// the memory of the whole process would share counts between applications whose policies have the same name
function ownMemory(clock: SluiceModuleOptions['clock']): Backend {
  return memoryBackend(clock ? { clock } : {})
}

function scopeIn(scope: string | undefined): string {
  return scope === undefined ? 'policies' : `${scope}:policies`
}

function nameOf(policy: Policies[number]): string {
  const { name } = optionsOf<{ readonly name?: string }>('policies', policy, Object.keys(policy ?? {}) as ['name'])
  if (name !== undefined) return name
  throw new SluiceError('SLUICE_BAD_NAME', 'policies: expected a name for @RateLimit, received one without a name')
}
