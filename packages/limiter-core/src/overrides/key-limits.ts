import type { LimitOverrides, Metric, PrepareLimits } from '../contracts.ts'
import { badOption } from '../errors/bad-option.ts'
import { checkedUnits } from '../policy/policy.ts'

/** Override limits by key, in units: integers from 1 to 999,999,999,999,999. */
export type LimitsByKey = Readonly<Record<string, number>>

/** Options that determine the limit of a key. */
export interface OverriddenKeys {
  /** Whether a key without an override uses the override of the part before its first `:`. Default: false. */
  readonly hierarchical?: boolean | undefined
  /** Keys without an override: `policy` applies the limit of the policy, `exempt` applies none. Default: `policy`. */
  readonly others?: LimitOverrides['others'] | undefined
}

/** Stores the limits of single keys and calls the policies that use them before the limits change. */
export class KeyLimits implements LimitOverrides {
  readonly others: LimitOverrides['others']
  readonly largestLimit: number
  readonly #hierarchical: boolean
  readonly #refused: ((error: unknown) => void) | undefined
  readonly #joined = new Set<PrepareLimits>()
  #limits: ReadonlyMap<string, number>

  /**
   * Throws a `SluiceError` if one of `limits` is invalid. Pass `refused` if the limits can change: it is called when a
   * policy joins that cannot have one of the current limits, and the policy counts such keys by its own limit.
   */
  constructor(limits: LimitsByKey, keys: OverriddenKeys, refused?: (error: unknown) => void) {
    this.#limits = checkedLimits(limits)
    this.#hierarchical = keys.hierarchical === true
    this.#refused = refused
    this.others = keys.others ?? 'policy'
    this.largestLimit = refused
      ? Number.POSITIVE_INFINITY
      : [...this.#limits.values()].reduce((largest, limit) => Math.max(largest, limit), 0)
  }

  limitOf(key: string): number | undefined {
    const exact = this.#limits.get(key)
    if (exact !== undefined || !this.#hierarchical) return exact
    const end = key.indexOf(':')
    return end > 0 ? this.#limits.get(key.slice(0, end)) : undefined
  }

  register(prepare: PrepareLimits): () => void {
    this.#joined.add(prepare)
    const leave = (): void => {
      this.#joined.delete(prepare)
    }
    try {
      prepare(new Set(this.#limits.values()))
    } catch (error) {
      if (!this.#refused) {
        leave()
        throw error
      }
      this.#refused(error)
    }
    return leave
  }

  /** Replaces all limits. Throws if they are invalid, and then keeps the previous ones. */
  replace(limits: unknown): void {
    const next = checkedLimits(limits)
    const distinct = new Set(next.values())
    for (const prepare of this.#joined) prepare(distinct)
    this.#limits = next
  }

  /** Returns the gauge `sluice_overrides`, the number of entries. */
  metrics(): Iterable<Metric> {
    const samples = [{ labels: {}, value: this.#limits.size }]
    return [{ name: 'sluice_overrides', help: 'Keys with a limit of their own.', type: 'gauge', samples }]
  }

  close(): void {}
}

/** Returns the validated limits by key. Error messages never contain a key, because a key may be a secret. */
function checkedLimits(limits: unknown): ReadonlyMap<string, number> {
  // a Map has no own entries and would clear all limits
  if (Object.prototype.toString.call(limits) !== '[object Object]') {
    throw badOption('limitOverrides: limits', limits, 'an object of limits by key')
  }
  const checked = new Map<string, number>()
  for (const [key, limit] of Object.entries(limits as object)) {
    checked.set(key, checkedUnits(limit, "limitOverrides: a key's limit"))
  }
  return checked
}
