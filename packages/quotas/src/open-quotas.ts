import { countName, SluiceError, shown } from '@sluice/limiter-core/backend'
import type { QuotaCounter } from './quota-counter.ts'

/** Identifies a quota. */
export interface QuotaName {
  /** Name of the policy. Optional if the limiters of this process have only one quota. */
  readonly policy?: string | undefined
  /** Scope of the limiter. Default: `default`. */
  readonly scope?: string | undefined
}

/** The quotas that limiters of this process have opened, by the name of their accounts. */
export class OpenQuotas {
  readonly #open = new Map<string, Set<QuotaCounter>>()

  get names(): readonly string[] {
    return [...this.#open.keys()]
  }

  /** Adds a counter and returns a function that removes it. */
  add(counter: QuotaCounter): () => void {
    const counters = this.#open.get(counter.account) ?? new Set()
    this.#open.set(counter.account, counters.add(counter))
    return () => {
      // closed again, the counter must not remove later counters of its name
      if (counters.delete(counter) && counters.size === 0) this.#open.delete(counter.account)
    }
  }

  /** Returns a counter with accounts of this name; undefined if no limiter has opened one. */
  byName(name: string): QuotaCounter | undefined {
    const [counter] = this.#open.get(name) ?? []
    return counter
  }

  /**
   * Returns the counter of a quota, and of several plans the one with the smallest limit. Throws `SLUICE_BAD_OPTION` if
   * the name matches no quota or several.
   */
  of({ policy, scope = 'default' }: QuotaName): QuotaCounter {
    const named = policy === undefined ? this.names : this.names.filter((name) => isNamed(name, scope, policy))
    if (named.length !== 1) throw this.#unknown(policy, scope, named.length)
    const [first, ...others] = this.#open.get(named[0]) as Set<QuotaCounter>
    return others.reduce((least, one) => (one.limit < least.limit ? one : least), first)
  }

  #unknown(policy: string | undefined, scope: string, found: number): SluiceError {
    const received =
      policy === undefined ? `no name, with ${found} quotas open` : `${shown(policy)} in scope ${shown(scope)}`
    return new SluiceError(
      'SLUICE_BAD_OPTION',
      `quotas: policy: expected the name of a quota of an open limiter, received ${received}`,
    )
  }
}

function isNamed(name: string, scope: string, policy: string): boolean {
  return name.startsWith(countName(scope, { name: policy }, ''))
}
