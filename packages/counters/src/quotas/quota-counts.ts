import { countName, SluiceError, shown } from '@sluice/limiter-core/backend'
import type { QuotaCounter } from './quota-counter.ts'

/** Which quota is meant. */
export interface QuotaName {
  /** The name of the policy. May be left out where limiters of this process have one quota only. */
  readonly policy?: string | undefined
  /** That of its limiter. Default: `default`. */
  readonly scope?: string | undefined
}

/** The quotas that limiters of this process have opened, by the names of their counts. */
export class QuotaCounts {
  readonly #open = new Map<string, Set<QuotaCounter>>()

  get names(): readonly string[] {
    return [...this.#open.keys()]
  }

  /** Returns a function that removes it. */
  add(counter: QuotaCounter): () => void {
    const counters = this.#open.get(counter.name) ?? new Set()
    this.#open.set(counter.name, counters.add(counter))
    return () => {
      counters.delete(counter)
      if (counters.size === 0) this.#open.delete(counter.name)
    }
  }

  /** One of this count; undefined where no limiter has it open. */
  byName(name: string): QuotaCounter | undefined {
    const [counter] = this.#open.get(name) ?? []
    return counter
  }

  /** Of several plans that with the smallest limit. Throws `SLUICE_BAD_OPTION` where none is meant, or several are. */
  of({ policy, scope = 'default' }: QuotaName): QuotaCounter {
    const named = policy === undefined ? this.names : this.names.filter((name) => isNamed(name, scope, policy))
    if (named.length !== 1) throw this.#unknown(policy, scope, named.length)
    const [first, ...others] = this.#open.get(named[0]) as Set<QuotaCounter>
    return others.reduce((least, one) => (one.limit < least.limit ? one : least), first)
  }

  #unknown(policy: string | undefined, scope: string, found: number): SluiceError {
    const got = policy === undefined ? `none of ${found}` : `${shown(policy)} in scope ${shown(scope)}`
    return new SluiceError(
      'SLUICE_BAD_OPTION',
      `quotas: policy: expected the name of one that a limiter has, received ${got}`,
    )
  }
}

function isNamed(name: string, scope: string, policy: string): boolean {
  return name.startsWith(countName(scope, { name: policy }, ''))
}
