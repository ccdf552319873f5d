import type { LimitOverrides, PrepareLimits } from '@sluice/limiter-core/backend'
import type { WrittenOverride } from '../document/policy-document.ts'
import { partsOfKey } from './policy-key.ts'

/** Returns a function that returns the overrides of a policy, without a comparison with each. */
export function byPolicy<T extends { readonly policy: string }>(
  overrides: readonly T[],
): (name: string) => readonly T[] {
  const own = new Map<string, T[]>()
  for (const override of overrides) {
    const known = own.get(override.policy)
    if (known) known.push(override)
    else own.set(override.policy, [override])
  }
  return (name) => own.get(name) ?? []
}

/** Returns the largest limit of many: they may be more than a function has arguments. */
export function largestLimit(limits: readonly { readonly limit: number }[]): number {
  return limits.reduce((largest, { limit }) => Math.max(largest, limit), Number.NEGATIVE_INFINITY)
}

/** Limits of single keys of one policy. An override of the first parts of a key applies to all keys with these parts. */
export class FileOverrides implements LimitOverrides {
  readonly others = 'policy'
  readonly largestLimit: number
  readonly #parts: number
  /** Limits by the parts of the key, for each number of parts. */
  readonly #limits: readonly ReadonlyMap<string, number>[]

  /** `parts`: number of attributes that the key of the policy has. */
  constructor(overrides: readonly WrittenOverride[], parts: number) {
    this.#parts = parts
    this.largestLimit = largestLimit(overrides)
    this.#limits = Array.from({ length: parts }, (_, index) => {
      const ofLength = overrides.filter(({ key }) => partsOf(key).length === index + 1)
      return new Map(ofLength.map(({ key, limit }) => [partsOf(key).join('\0'), limit]))
    })
  }

  /** Returns the limit of the longest override that fits the key. */
  limitOf(key: string): number | undefined {
    const parts = partsOfKey(key, this.#parts)
    for (let length = parts.length; length > 0; length--) {
      const limit = this.#limits[length - 1].get(parts.slice(0, length).join('\0'))
      if (limit !== undefined) return limit
    }
    return undefined
  }

  register(prepare: PrepareLimits): () => void {
    prepare(new Set(this.#limits.flatMap((limits) => [...limits.values()])))
    return () => {}
  }

  metrics(): [] {
    return []
  }

  close(): void {}
}

function partsOf(key: WrittenOverride['key']): readonly string[] {
  return typeof key === 'string' ? [key] : key
}
