import { ServerTime } from '@sluice/fleet/backend'
import { type Clock, type ScriptRunner, warnOnce } from '@sluice/limiter-core/backend'
import { invalidReply } from '../client/redis-failure.ts'
import { serverTime } from '../lua/scripts.ts'
import { ServerIdentities } from './server-identities.ts'

/** A pending request for the time of a server. */
interface TimeRequest {
  readonly sentAt: number
  readonly answer: Promise<void>
}

/** Milliseconds after which a pending request is considered lost, and another one is sent. */
const LOST_AFTER_MS = 1_000

/** The largest time of a `Date`. */
const MAX_DATE_MS = 8.64e15

/**
 * Converts deadlines from the process clock to the clocks of the servers. No command is counted after its deadline. A
 * command may be refused too early, at most by the return time of the fastest reply.
 */
export class ServerClocks {
  readonly identities: ServerIdentities = new ServerIdentities()
  readonly #runner: ScriptRunner
  readonly #clock: Clock
  readonly #times = new Map<string, ServerTime>()
  readonly #requests = new Map<string, TimeRequest>()

  constructor(runner: ScriptRunner, clock: Clock) {
    this.#runner = runner
    this.#clock = clock
  }

  /**
   * Converts `deadlineAt` from the process clock to the clock of the server of `key`, rounded down to ms. Returns
   * undefined if the server's clock is unknown; call `fetch` first.
   */
  deadline(key: string, deadlineAt: number): number | undefined {
    const at = this.at(key, deadlineAt)
    return at && Math.floor(at)
  }

  /**
   * Converts a time from the process clock to the clock of the server of `key`; the result is never too late. Returns
   * undefined if the server's clock is unknown.
   */
  at(key: string, processAt: number): number | undefined {
    return this.#times.get(this.serverOf(key))?.at(processAt)
  }

  /** Whether a server has reported its time within the last `maxAgeMs` milliseconds. */
  isRecent(key: string, maxAgeMs: number): boolean {
    const time = this.#times.get(this.serverOf(key))
    return time !== undefined && this.#clock.now() - time.learnedAt < maxAgeMs
  }

  /** Like `at`; the result is never too early. */
  notBefore(key: string, processAt: number): number | undefined {
    return this.#times.get(this.serverOf(key))?.notBefore(processAt)
  }

  /**
   * Reads the time and the identity of the server of `key`. Concurrent calls share one request, unless the runner is
   * `perTask`. Rejects if the runner rejects.
   */
  fetch(key: string): Promise<void> {
    const server = this.serverOf(key)
    const sentAt = this.#clock.now()
    // a call of a Worker ends with the request that made it
    const known = this.#runner.perTask ? undefined : this.#requests.get(server)
    if (known && sentAt - known.sentAt < LOST_AFTER_MS) return known.answer
    const settled = (): void => {
      if (this.#requests.get(server) === request) this.#requests.delete(server)
    }
    const request: TimeRequest = { sentAt, answer: this.#fetch(key).finally(settled) }
    this.#requests.set(server, request)
    return request.answer
  }

  /**
   * Records the time in ms that the server of `key` reported in reply to a call sent at `sentAt` (process clock).
   * Ignores a server until `fetch` has succeeded once. Otherwise a reply to another call, such as the probe of a
   * breaker, would make the clock known and the identity would never be read.
   */
  reported(key: string, serverMs: number, sentAt: number): void {
    this.#times.get(this.serverOf(key))?.replied(serverMs, sentAt, this.#clock.now())
  }

  /**
   * Forgets the clock of a server after an interruption, because another server may reply under the same name. Forgets
   * all servers if `server` is undefined.
   */
  forget(server?: string): void {
    if (server === undefined) this.#times.clear()
    else this.#times.delete(server)
    this.identities.markDoubtful(server, this.#clock.now())
  }

  /** Returns the name of the server that holds `key`. */
  serverOf(key: string): string {
    return this.#runner.serverOf?.(key) ?? ''
  }

  async #fetch(key: string): Promise<void> {
    const sentAt = this.#clock.now()
    const reply = await this.#runner.run(serverTime, [key], [])
    // a client may return numbers, strings or bytes
    const [seconds, micros, policy = '', identity = ''] = Array.isArray(reply) ? reply.map(String) : []
    const serverMs = Number(seconds) * 1_000 + Number(micros) / 1_000
    if (!isServerTime(serverMs)) throw invalidReply()
    const server = this.serverOf(key)
    this.identities.record(server, identity, sentAt)
    const time = this.#times.get(server) ?? new ServerTime()
    this.#times.set(server, time)
    time.replied(serverMs, sentAt, this.#clock.now())
    if (policy && policy !== 'noeviction') warnOfEviction(policy)
  }
}

/** Whether a server may report this time, in ms since 1970. */
export function isServerTime(ms: number): boolean {
  return ms >= 0 && ms <= MAX_DATE_MS
}

// all keys of Sluice expire, so the `volatile-…` policies evict them too
function warnOfEviction(policy: string): void {
  warnOnce(
    'SLUICE_REDIS_EVICTION',
    `Redis evicts keys when its memory is full (maxmemory-policy ${policy}), which admits denied clients again: ` +
      'set maxmemory-policy noeviction',
  )
}
