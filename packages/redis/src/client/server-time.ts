import { type Clock, type ScriptRunner, warnOnce } from '@sluice/limiter-core/backend'
import { serverTime } from '../lua/scripts.ts'
import { noReply } from './redis-failure.ts'
import { ServerIdentities } from './server-identities.ts'

/** What is known of the clock of one server, as what to add to a reading of ours. */
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

/** Milliseconds after which an answer is taken for lost: the next request is sent anew. */
const LOST_AFTER_MS = 1_000

// clocks drift apart by up to 0.5 ms a second while they are slewed: what was learned is forgotten after two terms
const TERM_MS = 5_000

/**
 * Deadlines in the time of the server. A reply that tells the server's time bounds the offset of its clock: it was read
 * after the call was sent and before its answer came. Of all bounds the one is used with which a command is never
 * counted after its deadline; it may be refused early, by the time that the quickest answer took to come back.
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
   * `deadlineAt` of the process clock as the server of `key` reads it, in whole ms; undefined where nothing is known of
   * its clock: `fetch` first.
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

  /** Asks the server of `key` for its time, and who it is; once, however many ask. Rejects as the runner does. */
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
   * The server of `key` reported its time, in ms, in answer to a call that was sent at `sentAt` of the process clock. It is
   * taken from a server that was asked before: or nobody would ever ask one whose first answer was to another call, such
   * as the probe of a breaker, who it is.
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
    // bounds that exclude each other: a clock was stepped, or another server answers
    if (!known || least > known.most || most < Math.max(known.least, known.leastBefore)) {
      this.#offsets.set(server, { least, leastBefore: least, most, termEndsAt: now + TERM_MS })
    } else if (now >= known.termEndsAt) {
      this.#offsets.set(server, { least, leastBefore: known.least, most, termEndsAt: now + TERM_MS })
    } else {
      known.least = Math.max(known.least, least)
      known.most = Math.min(known.most, most)
    }
  }

  /** After an interruption another server may answer under the same name; under any where none is said. */
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
    // as text, whatever the client makes of it
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
    `Redis evicts keys when its memory is spent (maxmemory-policy ${policy}), and with them who was denied; ` +
      'expected noeviction',
  )
}
