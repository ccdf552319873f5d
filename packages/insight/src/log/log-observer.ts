import { randomBytes } from 'node:crypto'
import type { Decision, ObservedCap, ObservedRequest, Observer } from '@sluice/limiter-core'
import { badOption, type Clock, clockOf, optionsOf } from '@sluice/limiter-core/backend'
import { keyMask, PRIVACIES, type Privacy } from '../privacy.ts'
import { LoggedKeys } from './logged-keys.ts'
import { requestId } from './request-id.ts'

/** Logger with a `warn` method: `console`, or a logger of pino or Fastify. */
export interface DenialLogger {
  warn(...line: unknown[]): void
  /** If present (as in pino), `warn` receives an object and a message; otherwise one string. */
  child?: unknown
}

export interface LogObserverOptions {
  readonly logger: DenialLogger
  /** How keys are displayed. Default: `mask`. */
  readonly privacy?: Privacy | undefined
  /** Key of `privacy: 'hash'`. Hashes are equal in all processes with the same secret. Default: random per process. */
  readonly secret?: string | undefined
  readonly clock?: Partial<Clock> | undefined
}

/** Fields of one log line. Unknown values are left out. */
interface DenialLine {
  readonly policy?: string
  readonly cap?: string
  readonly key: string
  readonly route?: string | undefined
  /** Time until a retry in whole ms. Left out for caps, and if the request can never be allowed. */
  readonly retryAfterMs?: number | undefined
  /** Failure rule that decided because the backend was unavailable. */
  readonly rule?: string | undefined
  readonly requestId?: string | undefined
  /** Number of denials that were not logged since the previous line. */
  readonly suppressed?: number | undefined
}

const OPTIONS = ['logger', 'privacy', 'secret', 'clock'] as const

/**
 * Creates an observer that logs denials of limits and caps at level `warn`: at most one line per key per second, and
 * 1,000 lines per second in total. Denials of shadow policies are not logged. Throws `SLUICE_BAD_OPTION`.
 */
export function logObserver(options: LogObserverOptions): Observer {
  const { logger, privacy = 'mask', secret, clock } = optionsOf('logObserver', options, OPTIONS)
  if (typeof logger?.warn !== 'function')
    throw badOption('logObserver: logger', logger, 'a logger with a warn method, such as console or pino')
  if (!PRIVACIES.includes(privacy)) throw badOption('logObserver: privacy', privacy, `one of ${PRIVACIES.join(', ')}`)
  if (secret !== undefined && (typeof secret !== 'string' || secret === '')) {
    throw badOption('logObserver: secret', typeof secret, 'a non-empty string')
  }
  return new DenialLog(logger, keyMask(privacy, secret ?? randomBytes(16).toString('hex')), clockOf(clock))
}

class DenialLog implements Observer {
  readonly #logger: DenialLogger
  readonly #shown: (key: string) => string
  readonly #clock: Clock
  readonly #keys = new LoggedKeys()

  constructor(logger: DenialLogger, shown: (key: string) => string, clock: Clock) {
    this.#logger = logger
    this.#shown = shown
    this.#clock = clock
  }

  decided(key: string, decision: Decision, request?: ObservedRequest): void {
    if (decision.allowed || !this.#keys.admits(key, this.#clock.now())) return
    const { binding, retryAfterMs, counted, source } = decision
    this.#write({
      policy: binding.policy.name,
      key: this.#shown(key),
      route: request?.route,
      retryAfterMs: Number.isFinite(retryAfterMs) ? retryAfterMs : undefined,
      rule: counted ? undefined : source,
      requestId: requestId(request?.request),
    })
  }

  capDenied(key: string, cap: ObservedCap): void {
    if (!this.#keys.admits(key, this.#clock.now())) return
    const { name, request } = cap
    this.#write({ cap: name, key: this.#shown(key), route: request?.route, requestId: requestId(request?.request) })
  }

  #write(line: DenialLine): void {
    const suppressed = this.#keys.takeSuppressed()
    const fields = Object.entries(suppressed > 0 ? { ...line, suppressed } : line)
    const known = fields.filter(([, value]) => value !== undefined)
    if (typeof this.#logger.child === 'function') this.#logger.warn(Object.fromEntries(known), 'sluice denied')
    // JSON escapes line breaks in values that clients control
    else
      this.#logger.warn(`sluice denied ${known.map(([name, value]) => `${name}=${JSON.stringify(value)}`).join(' ')}`)
  }
}
