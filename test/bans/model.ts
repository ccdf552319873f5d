import type { BanInput } from '@sluice/limiter-core'

/** Terms of a ban in milliseconds. */
export interface ModelTerms {
  readonly after: number
  readonly withinMs: number
  readonly forMs: number
  readonly growth: number
  readonly maxMs: number
  readonly extend: boolean
}

interface KeyState {
  strikes: number[]
  bans: number
  endsAt: number
  lastMs: number
}

/** Bans of keys by the rules of the documentation, in the plainest way. Earlier bans are never forgotten. */
export class BanModel {
  readonly #terms: ModelTerms
  readonly #keys = new Map<string, KeyState>()

  constructor(terms: ModelTerms) {
    this.#terms = terms
  }

  /** Returns the rest of the ban at the time of a request. */
  requested(key: string, now: number): number {
    const state = this.#of(key)
    if (state.endsAt <= now) return 0
    if (this.#terms.extend) state.endsAt = now + state.lastMs
    return state.endsAt - now
  }

  /** Counts a strike. Returns the duration of the ban that begins, or 0. */
  strike(key: string, now: number): number {
    const { after, withinMs, forMs, growth, maxMs } = this.#terms
    const state = this.#of(key)
    state.strikes = [...state.strikes.filter((at) => now < at + withinMs), now]
    if (state.strikes.length < after) return 0
    state.lastMs = Math.min(maxMs, Math.round(forMs * growth ** state.bans))
    state.endsAt = now + state.lastMs
    state.bans++
    state.strikes = []
    return state.lastMs
  }

  forgive(key: string): void {
    this.#of(key).strikes = []
  }

  reset(key: string): void {
    this.#keys.delete(key)
  }

  #of(key: string): KeyState {
    const known = this.#keys.get(key) ?? { strikes: [], bans: 0, endsAt: Number.NEGATIVE_INFINITY, lastMs: 0 }
    this.#keys.set(key, known)
    return known
  }
}

/** Returns the same terms as an option. */
export function banOf({ after, withinMs, forMs, growth, maxMs, extend }: ModelTerms): BanInput {
  const ms = (value: number): `${number}ms` => `${value}ms`
  return {
    after,
    within: ms(withinMs),
    for: ms(forMs),
    growth,
    max: ms(maxMs),
    forget: '700d',
    extend,
    forgiveOn: 'success',
  }
}
