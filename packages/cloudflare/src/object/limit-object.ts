import { Decisions, type EntryOf } from '@sluice/fleet/backend'
import { type Clock, messageOf, systemClock } from '@sluice/limiter-core/backend'
import { MARK, type ReplyMessage } from '../calls/call-message.ts'
import { Expiry } from './expiry.ts'
import { LimitEntries } from './limit-entries.ts'
import { type LimitObjectState, type LimitStorage, MAX_KEYS, unawaited, type WriteOptions } from './limit-storage.ts'
import { CallReader, type ReceivedCall } from './received-call.ts'

const BAD_REQUEST = 400
/** The wall clock is behind the time by less than this, because it returns whole milliseconds. */
const CLOCK_STEP_MS = 1
/** Name of the time at which the object first ran. */
const CREATED = 's:created'
/** Time in ms that entries are kept longer if a test passes the time. */
const SIMULATED_EXTRA_MS = 600_000

/**
 * The Durable Object class that counts for `durableObjectBackend`: export it from the Worker, and bind it to a namespace.
 * Storage of both kinds, SQLite and key-value, is supported.
 */
export class LimitObject {
  /** Type of Durable Object classes, for bindings of type `DurableObjectNamespace<LimitObject>`. No such property exists. */
  declare readonly __DURABLE_OBJECT_BRAND: never
  readonly #storage: LimitStorage
  readonly #clock: Pick<Clock, 'wall'>
  readonly #entries: LimitEntries
  readonly #expiry: Expiry
  readonly #calls = new CallReader()
  readonly #startedAt: number
  #createdAt: number | undefined
  #started: Promise<void> | undefined

  constructor(state: LimitObjectState, _env?: unknown) {
    this.#storage = state.storage
    this.#clock = systemClock
    this.#entries = new LimitEntries(this.#storage)
    this.#expiry = new Expiry(this.#storage, this.#entries)
    this.#startedAt = this.#clock.wall()
  }

  /** Decides the requests of one call of a backend. */
  async fetch(request: Request): Promise<Response> {
    let call: ReceivedCall
    try {
      call = this.#calls.read(await request.text())
    } catch (error) {
      return new Response(messageOf(error), { status: BAD_REQUEST })
    }
    await this.#start()
    const reply = await this.#entries.use(call.names, (entryOf) => this.#decide(call, entryOf))
    return new Response(JSON.stringify(reply))
  }

  /** Deletes expired counts. Called by the runtime. */
  async alarm(): Promise<void> {
    await this.#start()
    await this.#expiry.run(this.#clock.wall())
  }

  #decide({ deadline, given, durable, requests }: ReceivedCall, entryOf: EntryOf): ReplyMessage {
    const wall = this.#clock.wall()
    const now = given ?? wall
    const lostBefore = durable ? (this.#createdAt as number) : this.#startedAt
    if (deadline !== null && wall + CLOCK_STEP_MS > deadline)
      return { mark: MARK, late: true, now, lostBefore, answers: [] }
    const clock = given === null ? wall : wall + SIMULATED_EXTRA_MS
    const decisions = new Decisions(entryOf, { now, clock, lostBefore })
    const answers = requests.map((request) => decisions.decide(request))
    this.#write(decisions.writes, clock, { allowUnconfirmed: !durable })
    return { mark: MARK, late: false, now, lostBefore, answers }
  }

  /** Writes without waiting: the runtime sends the reply after all writes that must be confirmed. */
  #write(writes: ReadonlyMap<string, Float64Array>, clock: number, options: WriteOptions): void {
    if (writes.size === 0) return
    const entries = [...writes]
    for (let from = 0; from < entries.length; from += MAX_KEYS) {
      unawaited(this.#storage.put(Object.fromEntries(entries.slice(from, from + MAX_KEYS)), options))
    }
    const endsAt = entries.reduce((soonest, [, [keptUntil]]) => Math.min(soonest, keptUntil), Number.POSITIVE_INFINITY)
    this.#expiry.watch(clock, endsAt, options)
  }

  #start(): Promise<void> {
    this.#started ??= this.#readStart().catch((error) => {
      this.#started = undefined
      throw error
    })
    return this.#started
  }

  async #readStart(): Promise<void> {
    const [stored] = await Promise.all([this.#storage.get([CREATED]), this.#expiry.start()])
    const createdAt = stored.get(CREATED)
    if (typeof createdAt === 'number') this.#createdAt = createdAt
    else {
      this.#createdAt = this.#startedAt
      unawaited(this.#storage.put({ [CREATED]: this.#startedAt }))
    }
  }
}
