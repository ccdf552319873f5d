import { optionsOf, SluiceError, shown } from '@sluice/node-http/adapter'
import { type Backend, memoryBackend } from '@sluice/node-http/shared'
import type { NestRateOptions } from './layer-at.ts'
import type { SluiceModuleOptions } from './sluice-options.ts'

type Policies = NonNullable<SluiceModuleOptions['policies']>

/** Policies of the module that decorators use by name. Each has one count, shared by all its uses. */
export class NamedPolicies {
  readonly #options = new Map<string, NestRateOptions>()
  readonly #unused = new Set<string>()

  /**
   * Adds the policies of one import of the module. A policy replaces one with the same name from an earlier import.
   * Throws `SLUICE_DUPLICATE_POLICY` if one import has a name twice, and `SLUICE_BAD_NAME` for a policy without a name.
   */
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
        const message = `policies: expected unique names, received two policies named ${shown(name, 'name')}`
        throw new SluiceError('SLUICE_DUPLICATE_POLICY', message)
      }
      names.add(name)
      this.#unused.add(name)
      this.#options.set(name, { ...(time && { clock: time }), ...shared, policies: [policy] } as NestRateOptions)
    }
  }

  get all(): readonly NestRateOptions[] {
    return [...this.#options.values()]
  }

  /** Describes the policies that no decorator has used so far; undefined if there are none. */
  whyUnused(): string | undefined {
    if (this.#unused.size === 0) return undefined
    const names = [...this.#unused].map((name) => shown(name, 'name')).join(', ')
    const expected =
      "rateLimit: { policies: […] } for limits on all routes, or @RateLimit('name') on a class or a method"
    return `SluiceModule.forRoot: policies: expected ${expected}, received policies that no decorator uses: ${names}`
  }

  readonly named = (name: string): NestRateOptions => {
    const options = this.#options.get(name)
    this.#unused.delete(name)
    if (options) return options
    const names = [...this.#options.keys()].map((one) => shown(one, 'name')).join(', ')
    const expected = names === '' ? 'a name from `policies` of SluiceModule, which is empty' : `one of ${names}`
    throw new SluiceError('SLUICE_UNKNOWN_POLICY', `@RateLimit: expected ${expected}, received ${shown(name, 'name')}`)
  }
}

// the process-wide backend would share counts between applications that have policies with the same name
function ownMemory(clock: SluiceModuleOptions['clock']): Backend {
  return memoryBackend({ clock })
}

function scopeIn(scope: string | undefined): string {
  return scope === undefined ? 'policies' : `${scope}:policies`
}

function nameOf(policy: Policies[number]): string {
  const { name } = optionsOf<{ readonly name?: string | undefined }>(
    'policies',
    policy,
    Object.keys(policy ?? {}) as ['name'],
  )
  if (name !== undefined) return name
  throw new SluiceError('SLUICE_BAD_NAME', 'policies: expected a name for each policy, received a policy without one')
}
