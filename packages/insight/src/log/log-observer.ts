import { randomBytes } from 'node:crypto'
import type { Decision, ObservedCap, ObservedRequest, Observer } from '@sluice/limiter-core'
import { badOption, type Clock, clockOf, optionsOf } from '@sluice/limiter-core/backend'
import type { Insight } from '../insight.ts'
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
  /**
   * The insight of the live page. Lines then have the `id` of the key instead of the key: the page of the key is
   * `#/keys/id/<id>`, and `sluice explain --id` reads it. Not valid with `privacy` and `secret`. Default: the key.
   */
  readonly insight?: Pick<Insight, 'idOf'> | undefined
  readonly clock?: Partial<Clock> | undefined
}

/** Fields of one log line. Unknown values are left out. */
interface DenialLine {
  readonly policy?: string
  readonly cap?: string
  /** The key as it is displayed. */
  readonly key?: string
  /** The id of the key on the live page. */
  readonly id?: string
  readonly route?: string | undefined
  /** Time until a retry in whole ms. Left out for caps, and if the request can never be allowed. */
  readonly retryAfterMs?: number | undefined
  /** Failure rule that decided because the backend was unavailable. */
  readonly rule?: string | undefined
  readonly requestId?: string | undefined
  /** Number of denials that were not logged since the previous line. */
  readonly suppressed?: number | undefined
}

const OPTIONS = ['logger', 'privacy', 'secret', 'insight', 'clock'] as const

/**
 * Creates an observer that logs denials of limits and caps at level `warn`: at most one line per key per second, and
 * 1,000 lines per second in total. Denials of shadow policies are not logged. Throws `SLUICE_BAD_OPTION`.
 */
export function logObserver(options: LogObserverOptions): Observer {
  const { logger, privacy, secret, insight, clock } = optionsOf('logObserver', options, OPTIONS)
  if (typeof logger?.warn !== 'function')
    throw badOption('logObserver: logger', logger, 'a logger with a warn method, such as console or pino')
  if (privacy !== undefined && !PRIVACIES.includes(privacy)) {
    throw badOption('logObserver: privacy', privacy, `one of ${PRIVACIES.join(', ')}`)
  }
  if (secret !== undefined && (typeof secret !== 'string' || secret === '')) {
    throw badOption('logObserver: secret', typeof secret, 'a non-empty string')
  }
  return new DenialLog(logger, namesOf({ privacy, secret, insight }), clockOf(clock))
}

/** Returns the fields that name a key. */
type KeyFields = (key: string) => Pick<DenialLine, 'key' | 'id'>

function namesOf({ privacy, secret, insight }: Omit<LogObserverOptions, 'logger'>): KeyFields {
  if (insight === undefined) {
    const shown = keyMask(privacy ?? 'mask', secret ?? randomBytes(16).toString('hex'))
    return (key) => ({ key: shown(key) })
  }
  if (typeof insight?.idOf !== 'function') throw badOption('logObserver: insight', insight, 'an insight')
  if (privacy === undefined && secret === undefined) return (key) => ({ id: insight.idOf(key) })
  throw badOption('logObserver: insight', 'one with privacy or secret', 'an insight alone, which has its own')
}

class DenialLog implements Observer {
  readonly #logger: DenialLogger
  readonly #named: KeyFields
  readonly #clock: Clock
  readonly #keys = new LoggedKeys()

  constructor(logger: DenialLogger, named: KeyFields, clock: Clock) {
    this.#logger = logger
    this.#named = named
    this.#clock = clock
  }

  decided(key: string, decision: Decision, request?: ObservedRequest): void {
    if (decision.allowed || !this.#keys.admits(key, this.#clock.now())) return
    const { binding, retryAfterMs, counted, source } = decision
    this.#write({
      policy: binding.policy.name,
      ...this.#named(key),
      route: request?.route,
      retryAfterMs: Number.isFinite(retryAfterMs) ? retryAfterMs : undefined,
      rule: counted ? undefined : source,
      requestId: requestId(request?.request),
    })
  }

  capDenied(key: string, cap: ObservedCap): void {
    if (!this.#keys.admits(key, this.#clock.now())) return
    const { name, request } = cap
    this.#write({ cap: name, ...this.#named(key), route: request?.route, requestId: requestId(request?.request) })
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
