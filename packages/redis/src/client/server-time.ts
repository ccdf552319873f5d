import { type Clock, type ScriptRunner, warnOnce } from '@sluice/limiter-core/backend'
import { serverTime } from '../lua/scripts.ts'
import { noReply } from './redis-failure.ts'
import { ServerIdentities } from './server-identities.ts'

/** What is known about the clock of one server, as an offset to the process clock. */
interface Offset {
  /** The largest lower bound of this term and of the one before. */
  least: number
  leastBefore: number
  /** The smallest upper bound of this term. */
  most: number
  termEndsAt: number
}

/** A request for the time under way. */
interface TimeRequest {
  readonly sentAt: number
  readonly answer: Promise<void>
}

/** Milliseconds after which a reply counts as lost and the next request is sent. */
const LOST_AFTER_MS = 1_000

// clocks drift apart by up to 0.5 ms per second while they are slewed, so bounds are forgotten after two terms
const TERM_MS = 5_000

/**
 * Converts deadlines to the time of the server. A reply with the server's time bounds the offset of its clock,
 * because the time was read between the call and the reply. The bound is chosen so that a command never counts after
 * its deadline; it may be refused early, by the duration of the fastest reply.
 */
export class ServerTime {
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
   * Returns `deadlineAt` of the process clock in server time for `key`, as whole ms; undefined if the server's clock
   * is unknown: call `fetch` first.
   */
  deadline(key: string, deadlineAt: number): number | undefined {
    const at = this.at(key, deadlineAt)
    return at && Math.floor(at)
  }

  /** A reading of the process clock as the server of `key` has it, or a little less; undefined as above. */
  at(key: string, processAt: number): number | undefined {
    const offset = this.#offsets.get(this.serverOf(key))
    return offset && processAt + Math.max(offset.least, offset.leastBefore)
  }

  /** Requests the time and identity of the server of `key`, once for concurrent callers. Rejects like the runner. */
  fetch(key: string): Promise<void> {
    const server = this.serverOf(key)
    const sentAt = this.#clock.now()
    const known = this.#requests.get(server)
    if (known && sentAt - known.sentAt < LOST_AFTER_MS) return known.answer
    const over = (): void => {
      if (this.#requests.get(server) === request) this.#requests.delete(server)
    }
    const request: TimeRequest = { sentAt, answer: this.#fetch(key).finally(over) }
    this.#requests.set(server, request)
    return request.answer
  }

  /**
   * The server of `key` reported its time, in ms, in reply to a call sent at `sentAt` of the process clock. Ignored
   * for a server that was never asked; otherwise no call would ever ask for the identity of a server whose first
   * reply was to another call, such as the probe of a breaker.
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
    // the bounds exclude each other: a clock was stepped, or another server answers
    if (!known || least > known.most || most < Math.max(known.least, known.leastBefore)) {
      this.#offsets.set(server, { least, leastBefore: least, most, termEndsAt: now + TERM_MS })
    } else if (now >= known.termEndsAt) {
      this.#offsets.set(server, { least, leastBefore: known.least, most, termEndsAt: now + TERM_MS })
    } else {
      known.least = Math.max(known.least, least)
      known.most = Math.min(known.most, most)
    }
  }

  /** After an interruption another server may answer under the same name; without a name, under any. */
  forget(server?: string): void {
    if (server === undefined) this.#offsets.clear()
    else this.#offsets.delete(server)
    this.identities.doubt(server, this.#clock.now())
  }

  /** The name of the server of `key`. */
  serverOf(key: string): string {
    return this.#runner.serverOf?.(key) ?? ''
  }

  async #fetch(key: string): Promise<void> {
    const sentAt = this.#clock.now()
    const reply = await this.#runner.run(serverTime, [key], [])
    // converted to strings, whatever the client returns
    const [seconds, micros, policy = '', identity = ''] = Array.isArray(reply) ? reply.map(String) : []
    const serverMs = Number(seconds) * 1_000 + Number(micros) / 1_000
    if (!Number.isFinite(serverMs)) throw noReply()
    const server = this.serverOf(key)
    this.identities.record(server, identity, sentAt)
    this.#learn(server, serverMs, sentAt)
    if (policy && policy !== 'noeviction') warnOfEviction(policy)
  }
}

// every key of ours expires, so the volatile policies evict it as the others do
function warnOfEviction(policy: string): void {
  warnOnce(
    'SLUICE_REDIS_EVICTION',
    `Redis evicts keys when its memory is full (maxmemory-policy ${policy}), which admits denied clients again: ` +
      'set maxmemory-policy noeviction',
  )
}
