import { randomBytes } from 'node:crypto'
import type { Decision, ObservedCap, ObservedRequest, Observer } from '@sluice/limiter-core'
import { badOption, type Clock, clockOf, optionsOf } from '@sluice/limiter-core/backend'
import { keyMask, PRIVACIES, type Privacy } from '../privacy.ts'
import { LoggedKeys } from './logged-keys.ts'
import { requestId } from './request-id.ts'

/** `console`, a logger of pino or of Fastify, or whatever has one of their `warn`. */
export interface DenialLogger {
  warn(...line: unknown[]): void
  /** Loggers that make children, as pino does, get an object and a message; others one line of text. */
  child?: unknown
}

export interface LogObserverOptions {
  readonly logger: DenialLogger
  /** How keys are shown. Default: `mask`. */
  readonly privacy?: Privacy | undefined
  /** Of `privacy: 'hash'`: equal keys read alike in all processes that have it. Default: one of this process alone. */
  readonly secret?: string | undefined
  readonly clock?: Partial<Clock> | undefined
}

/** What a line tells. What is not known is not there. */
interface DenialLine {
  readonly policy?: string
  readonly cap?: string
  readonly key: string
  readonly route?: string | undefined
  /** Whole ms; not there where the cost never fits, and of a cap. */
  readonly retryAfterMs?: number | undefined
  /** Who decided while the backend failed. */
  readonly rule?: string | undefined
  readonly requestId?: string | undefined
  /** Denials since the line before this one that had none. */
  readonly suppressed?: number | undefined
}

const OPTIONS = ['logger', 'privacy', 'secret', 'clock'] as const

/**
 * Writes a line at level `warn` for what limits and caps deny: for each key one a second at most, 1,000 a second in all.
 * Those of shadow policies have none. Throws `SLUICE_BAD_OPTION`.
 */
export function logObserver(options: LogObserverOptions): Observer {
  const { logger, privacy = 'mask', secret, clock } = optionsOf('logObserver', options, OPTIONS)
  if (typeof logger?.warn !== 'function') throw badOption('logObserver: logger', logger, 'console, or a logger of pino')
  if (!PRIVACIES.includes(privacy)) throw badOption('logObserver: privacy', privacy, PRIVACIES.join(', '))
  if (secret !== undefined && (typeof secret !== 'string' || secret === '')) {
    throw badOption('logObserver: secret', typeof secret, 'a text of one character or more')
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
    const told = Object.entries(suppressed > 0 ? { ...line, suppressed } : line)
    const known = told.filter(([, value]) => value !== undefined)
    if (typeof this.#logger.child === 'function') this.#logger.warn(Object.fromEntries(known), 'sluice denied')
    // as JSON, so that what clients chose can begin no line of its own
    else
      this.#logger.warn(`sluice denied ${known.map(([name, value]) => `${name}=${JSON.stringify(value)}`).join(' ')}`)
  }
}
