import { type Clock, type ScriptRunner, warnOnce } from '@sluice/limiter-core/backend'
import { invalidReply } from '../client/redis-failure.ts'
import { serverTime } from '../lua/scripts.ts'
import { ServerIdentities } from './server-identities.ts'

/** Bounds of the clock offset of one server: its time minus the time of this process, in ms. */
interface Offset {
  /** Largest lower bound of the current term. */
  least: number
  /** Largest lower bound of the previous term. */
  leastBefore: number
  /** Smallest upper bound of the current term. */
  most: number
  termEndsAt: number
  /** Time of the last reply on the process clock. */
  learnedAt: number
}

/** A pending request for the time of a server. */
interface TimeRequest {
  readonly sentAt: number
  readonly answer: Promise<void>
}

/** Milliseconds after which a pending request is considered lost, and another one is sent. */
const LOST_AFTER_MS = 1_000

/** The largest time of a `Date`. */
const MAX_DATE_MS = 8.64e15

// clocks that are being adjusted drift apart by up to 0.5 ms per second, so bounds expire after two terms
const TERM_MS = 5_000

/**
 * Converts deadlines from the process clock to the clocks of the servers. Each reply with the server's time bounds the
 * clock offset, because the server read its clock between the sending of the call and the arrival of the reply. The
 * lower bound is used, so that no command is counted after its deadline. A command may be refused too early, at most by
 * the return time of the fastest reply.
 */
export class ServerClocks {
  readonly identities: ServerIdentities = new ServerIdentities()
  readonly #runner: ScriptRunner
  readonly #clock: Clock
  readonly #offsets = new Map<string, Offset>()
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
    const offset = this.#offsets.get(this.serverOf(key))
    return offset && processAt + Math.max(offset.least, offset.leastBefore)
  }

  /** Whether a server has reported its time within the last `maxAgeMs` milliseconds. */
  isRecent(key: string, maxAgeMs: number): boolean {
    const offset = this.#offsets.get(this.serverOf(key))
    return offset !== undefined && this.#clock.now() - offset.learnedAt < maxAgeMs
  }

  /** Like `at`; the result is never too early. */
  notBefore(key: string, processAt: number): number | undefined {
    const offset = this.#offsets.get(this.serverOf(key))
    return offset && processAt + offset.most
  }

  /**
   * Reads the time and the identity of the server of `key`. Concurrent calls share one request. Rejects if the runner
   * rejects.
   */
  fetch(key: string): Promise<void> {
    const server = this.serverOf(key)
    const sentAt = this.#clock.now()
    const known = this.#requests.get(server)
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
    const server = this.serverOf(key)
    if (this.#offsets.has(server)) this.#learn(server, serverMs, sentAt)
  }

  #learn(server: string, serverMs: number, sentAt: number): void {
    const now = this.#clock.now()
    const least = serverMs - now
    const most = serverMs - sentAt
    const known = this.#offsets.get(server)
    // contradictory bounds: a clock was set, or another server replied
    if (!known || least > known.most || most < Math.max(known.least, known.leastBefore)) {
      this.#offsets.set(server, { least, leastBefore: least, most, termEndsAt: now + TERM_MS, learnedAt: now })
    } else if (now >= known.termEndsAt) {
      const termEndsAt = now + TERM_MS
      this.#offsets.set(server, { least, leastBefore: known.least, most, termEndsAt, learnedAt: now })
    } else {
      known.least = Math.max(known.least, least)
      known.most = Math.min(known.most, most)
      known.learnedAt = now
    }
  }

  /**
   * Forgets the clock of a server after an interruption, because another server may reply under the same name. Forgets
   * all servers if `server` is undefined.
   */
  forget(server?: string): void {
    if (server === undefined) this.#offsets.clear()
    else this.#offsets.delete(server)
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
    this.#learn(server, serverMs, sentAt)
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
