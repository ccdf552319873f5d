import type { Clock, Observers, Script, ScriptRunner } from '@sluice/limiter-core/backend'
import { invalidReply } from '../client/redis-failure.ts'
import { channelLeave } from '../lua/scripts.ts'
import { ExchangeLoop } from './exchange-loop.ts'

/** Time after which Redis deletes a topic without new messages. */
const KEPT_MS = 86_400_000
/** Time for which Redis stores the last batch number of a writer. A batch is resent for at most half of it. */
const REMEMBERED_MS = 3_600_000

type Arguments = readonly (string | number)[]

/** Content of a `ChannelExchange`: what is sent and received for one topic. */
export interface TopicContent {
  readonly topic: string
  readonly script: Script
  /** Redis keys of the script, after the key of the writer. */
  readonly keys: readonly string[]
  /** First arguments of every call that are specific to the script. */
  readonly settings: Arguments
  /** Whether to receive what other processes send. */
  readonly listening: boolean
  /** Number of batches that wait to be sent, including fractions of a batch. */
  readonly waiting: number
  /**
   * Returns the script arguments of the next batch; undefined if there is nothing to send. The batch is resent
   * unchanged until `acknowledged` or `abandoned` is called.
   */
  next(): Arguments | undefined
  /** Called when the batch has been applied, exactly once. */
  acknowledged(): void
  /** Called when the batch is given up, because Redis may no longer know whether it was applied. */
  abandoned(): void
  /** Whether the script may have returned this news. News that is not valid is not passed to `received`. */
  isValid(news: readonly unknown[]): boolean
  /** Applies what other processes sent. `missed`: messages were discarded before this process could receive them. */
  received(news: readonly unknown[], missed: boolean): void
}

export interface ChannelDeps {
  readonly runner: ScriptRunner
  readonly clock: Clock
  readonly observers: Observers
  /** Unique id of this process. */
  readonly writer: string
  /** Redis key that stores the last batch number of this process. */
  readonly writerKey: string
}

/** Id of data in Redis: seconds, microseconds, and the writer; empty before the first batch. */
export const BIRTH: RegExp = /^(?:\d+\.\d+\..+)?$/
/** Id of a batch of messages, or version of a sum. */
const POSITION = /^\d{1,20}(?:-\d{1,20})?$/
/** Position in a topic without data. */
const BEGINNING = /^0(?:-0)?$/

interface ExchangeReply {
  readonly born: string
  readonly position: string
  /** 0 or 1, as `more`. */
  readonly missed: number
  readonly more: number
  readonly news: readonly unknown[]
}

interface Batch {
  readonly number: number
  readonly args: Arguments
  readonly since: number
}

/** Read position of this process in the data of Redis with the id `born`. Both are empty before the first reply. */
interface Reader {
  born: string
  position: string
}

/**
 * Sends batches to Redis so that each is applied exactly once, and reads what other processes sent. At most one batch
 * is pending. It is resent with its number until a reply arrives, and Redis stores the last number of each writer. The
 * read position only advances with a reply. Requests and replies may therefore be lost, delayed or duplicated.
 */
export class ChannelExchange {
  readonly #side: TopicContent
  readonly #deps: ChannelDeps
  readonly #loop: ExchangeLoop
  #reader: Reader = { born: '', position: '' }
  #batch: Batch | undefined
  #number = 0
  #closing = false

  constructor(side: TopicContent, deps: ChannelDeps) {
    this.#side = side
    this.#deps = deps
    const { clock, observers } = deps
    this.#loop = new ExchangeLoop({ topic: side.topic, clock, observers, exchange: () => this.#exchange() })
  }

  /** Reads from the beginning with the next exchange. */
  rejoin(): void {
    this.#reader = { born: '', position: '' }
  }

  /** Sends and receives, or waits for the pending exchange. Never rejects. */
  tick(): Promise<void> {
    return this.#loop.tick()
  }

  /** Waits up to `ms` for the pending exchange and for the rest to be sent. Nothing is sent afterwards. */
  async close(ms: number): Promise<void> {
    this.#closing = true
    await this.#loop.close(ms)
    void this.#leave()
  }

  /** Deletes the record of this writer in Redis. If that fails, the record expires. */
  async #leave(): Promise<void> {
    const { runner, writerKey } = this.#deps
    if (this.#number === 0 || this.#batch) return
    try {
      await runner.run(channelLeave, [writerKey], [])
    } catch {
      // the record expires, as after a crash
    }
  }

  async #exchange(): Promise<void> {
    let more = true
    while (more && !this.#loop.closed) more = await this.#once()
  }

  async #once(): Promise<boolean> {
    const { runner, writer, writerKey } = this.#deps
    const { script, keys, settings, listening } = this.#side
    const batch = this.#pending()
    const reader = this.#reader
    if (!batch && !listening) return false
    const place = [batch?.number ?? 0, writer, reader.position, reader.born, listening ? 1 : 0, REMEMBERED_MS, KEPT_MS]
    const answer = runner.run(script, [writerKey, ...keys], [...place, ...settings, ...(batch?.args ?? [])])
    return this.#answered(this.#replyOf(await this.#loop.inTime(answer)), batch, reader)
  }

  #pending(): Batch | undefined {
    const now = this.#deps.clock.now()
    if (this.#batch && now - this.#batch.since > REMEMBERED_MS / 2) {
      this.#batch = undefined
      this.#side.abandoned()
    }
    const args = this.#batch ? undefined : this.#side.next()
    if (args) this.#batch = { number: ++this.#number, args, since: now }
    return this.#batch
  }

  /** Throws for a reply that the script does not return: a batch without a reply is sent again. */
  #replyOf(reply: unknown): ExchangeReply {
    if (!Array.isArray(reply)) throw invalidReply()
    const [born, position, missed, more, ...news] = reply as readonly unknown[]
    const known = { born: String(born), position: String(position), missed: Number(missed), more: Number(more), news }
    const areFlags = [known.missed, known.more].every((flag) => flag === 0 || flag === 1)
    const isPlace = BIRTH.test(known.born) && (known.born === '' ? BEGINNING : POSITION).test(known.position)
    if (!areFlags || !isPlace || !this.#side.isValid(news)) throw invalidReply()
    return known
  }

  #answered({ born, position, missed, more, news }: ExchangeReply, batch: Batch | undefined, reader: Reader): boolean {
    this.#loop.answered()
    if (batch) {
      this.#batch = undefined
      this.#side.acknowledged()
    }
    // ignores messages for a previous reader, if the subscription ended or restarted while the call was pending
    if (this.#side.listening && reader === this.#reader) {
      reader.born = born
      reader.position = position
      this.#side.received(news, missed === 1)
      if (more === 1) return true
    }
    // a partial batch waits for the next tick, unless the exchange is being closed
    return this.#closing ? this.#side.waiting > 0 : this.#side.waiting >= 1
  }
}
