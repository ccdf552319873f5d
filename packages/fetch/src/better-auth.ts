import { createLimiter, type Decision, type Limiter, type LimiterOptions, type MaybePromise } from '@sluice/http/shared'

/** A rule of better-auth: at most `max` requests in `window` seconds. */
export interface BetterAuthRule {
  readonly window: number
  readonly max: number
}

/** Answer to a request: `retryAfter` is in seconds, rounded up, and null if the request is allowed or never fits. */
export interface BetterAuthAnswer {
  readonly allowed: boolean
  readonly retryAfter: number | null
}

/** Storage for `rateLimit.customStorage` of better-auth 1.7. */
export interface BetterAuthStorage {
  /** Counts one request of a key and decides it, in one step. Rejects if the backend cannot count the rule. */
  consume(key: string, rule: BetterAuthRule): Promise<BetterAuthAnswer>
  /** Closes the counters that the storage opened. A limiter or backend passed as an option stays open. */
  close(): Promise<void>
}

/** Options of `betterAuthStorage`: those of `createLimiter`, without policies. The rules of better-auth are the policies. */
export type BetterAuthStorageOptions = Omit<LimiterOptions, 'policies'>

/** The largest limit of a policy. */
const LARGEST_LIMIT = 999_999_999_999_999

/** Number of different rules that are counted at the same time. A further rule takes the place of the oldest one. */
const MOST_RULES = 1_000

/** The rule of better-auth for sign-ins. It is opened at once, so that invalid options fail at start-up. */
const SIGN_INS: BetterAuthRule = { window: 10, max: 3 }

const DENIED: BetterAuthAnswer = { allowed: false, retryAfter: null }

/**
 * Creates a storage for the limits of better-auth 1.7, which counts on a backend of Sluice:
 * `betterAuth({ rateLimit: { customStorage: betterAuthStorage({ backend }) } })`. Each rule of better-auth becomes a
 * policy. With a limiter instead of options, the policies of the limiter apply to each address and path, and `window`
 * and `max` of better-auth are ignored. It is not a plugin, because `onResponse` of plugins does not receive the
 * request and is not called for denials. Default backend: memory. Throws a `SluiceError` if an option is invalid.
 */
export function betterAuthStorage(limits: Limiter | BetterAuthStorageOptions = {}): BetterAuthStorage {
  if (isLimiter(limits)) return new AuthStorage(() => limits)
  const rules = new RuleLimiters(limits)
  return new AuthStorage(
    (rule) => rules.of(rule),
    () => rules.close(),
  )
}

function isLimiter(limits: Limiter | BetterAuthStorageOptions): limits is Limiter {
  return typeof (limits as Partial<Limiter> | null)?.take === 'function'
}

class AuthStorage implements BetterAuthStorage {
  readonly #limiterOf: (rule: BetterAuthRule) => Limiter | undefined
  readonly #close: () => MaybePromise<unknown>

  constructor(limiterOf: (rule: BetterAuthRule) => Limiter | undefined, close: () => MaybePromise<unknown> = () => {}) {
    this.#limiterOf = limiterOf
    this.#close = close
  }

  async consume(key: string, rule: BetterAuthRule): Promise<BetterAuthAnswer> {
    const decision = await this.#limiterOf(rule)?.take(key)
    return decision ? answerOf(decision) : DENIED
  }

  async close(): Promise<void> {
    await this.#close()
  }
}

function answerOf({ allowed, retryAfterMs }: Decision): BetterAuthAnswer {
  const isFinal = allowed || retryAfterMs === Number.POSITIVE_INFINITY
  return { allowed, retryAfter: isFinal ? null : Math.ceil(retryAfterMs / 1_000) }
}

/** One limiter for each rule. Rules that differ in `max` or `window` have counts of their own. */
class RuleLimiters {
  readonly #options: BetterAuthStorageOptions
  readonly #limiters = new Map<string, Limiter>()

  constructor(options: BetterAuthStorageOptions) {
    this.#options = options
    this.of(SIGN_INS)
  }

  /** Returns the limiter of a rule; undefined if the rule admits no request, because it is not a pair of positive numbers. */
  of({ window, max }: BetterAuthRule): Limiter | undefined {
    const limit = Math.min(Math.ceil(max), LARGEST_LIMIT)
    const windowMs = Math.ceil(window * 1_000)
    if (!(Number.isSafeInteger(windowMs) && windowMs > 0 && limit > 0)) return undefined
    const name = `better-auth:${limit}-per-${windowMs}ms`
    return this.#limiters.get(name) ?? this.#open(name, limit, windowMs)
  }

  async close(): Promise<void> {
    const limiters = [...this.#limiters.values()]
    this.#limiters.clear()
    await Promise.all(limiters.map((limiter) => limiter.close()))
  }

  #open(name: string, limit: number, windowMs: number): Limiter {
    const limiter = createLimiter({ ...this.#options, policies: [{ name, limit, window: `${windowMs}ms` }] })
    this.#limiters.set(name, limiter)
    const [oldest] = this.#limiters
    if (this.#limiters.size > MOST_RULES) {
      this.#limiters.delete(oldest[0])
      void oldest[1].close()
    }
    return limiter
  }
}
