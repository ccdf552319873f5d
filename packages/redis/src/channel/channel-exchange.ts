import type { Clock, Observers, Script, ScriptRunner } from '@sluice/limiter-core/backend'
import { channelLeave } from '../lua/scripts.ts'
import { ExchangeLoop } from './exchange-loop.ts'

/** How long a topic without new messages is kept. */
const KEPT_MS = 86_400_000
/** How long the server remembers the last batch of a writer; a batch is not resent after half of it. */
const REMEMBERED_MS = 3_600_000

type Arguments = readonly (string | number)[]

/** What one topic sends and receives. */
export interface ChannelSide {
  readonly topic: string
  readonly script: Script
  /** Keys of the script, after the key of the writer. */
  readonly keys: readonly string[]
  readonly settings: Arguments
  /** True while news are wanted. */
  readonly listening: boolean
  /** Number of batches that wait to be sent; a part of a batch counts proportionally. */
  readonly waiting: number
  /**
   * Returns the script arguments of the next batch, or undefined if there is none. A batch is resent unchanged until
   * it counts.
   */
  next(): Arguments | undefined
  /** The batch counts, once. */
  acknowledged(): void
  /** Called when a batch is given up, because the server may have forgotten whether it counted. */
  abandoned(): void
  /** Receives what other processes sent. `missed`: some of it was discarded before it could be received. */
  received(news: readonly unknown[], missed: boolean): void
}

export interface ChannelDeps {
  readonly runner: ScriptRunner
  readonly clock: Clock
  readonly observers: Observers
  /** Unique for this process. */
  readonly writer: string
  /** The key under which the server remembers the batches of this writer. */
  readonly writerKey: string
}

interface Batch {
  readonly number: number
  readonly args: Arguments
  readonly since: number
}

interface Reader {
  born: string
  position: string
}

/**
 * Sends batches to a server so that each counts exactly once, and reads what other processes sent. One batch is
 * pending at a time: it has a number and is resent with it until a reply arrives, and the server stores the last
 * number of each writer. The read position advances only with a reply. Any request or reply may therefore be lost,
 * late or duplicated.
 */
export class ChannelExchange {
  readonly #side: ChannelSide
  readonly #parts: ChannelDeps
  readonly #loop: ExchangeLoop
  #reader: Reader = { born: '', position: '' }
  #batch: Batch | undefined
  #number = 0
  #closing = false

  constructor(side: ChannelSide, parts: ChannelDeps) {
    this.#side = side
    this.#parts = parts
    const { clock, observers } = parts
    this.#loop = new ExchangeLoop({ topic: side.topic, clock, observers, exchange: () => this.#exchange() })
  }

  /** Reads from the start again. */
  rejoin(): void {
    this.#reader = { born: '', position: '' }
  }

  /** Sends and receives once, unless an exchange is pending. Never rejects. */
  tick(): Promise<void> {
    return this.#loop.tick()
  }

  /** Waits for the pending exchange and sends the rest, for at most `ms`. Nothing is sent afterwards. */
  async close(ms: number): Promise<void> {
    this.#closing = true
    await this.#loop.close(ms)
    void this.#leave()
  }

  /** Not awaited: if it fails, the record of this writer expires slightly later. */
  async #leave(): Promise<void> {
    const { runner, writerKey } = this.#parts
    if (this.#number === 0 || this.#batch) return
    try {
      await runner.run(channelLeave, [writerKey], [])
    } catch {
      // as after a crash
    }
  }

  async #exchange(): Promise<void> {
    let more = true
    while (more && !this.#loop.closed) more = await this.#once()
  }

  async #once(): Promise<boolean> {
    const { runner, writer, writerKey } = this.#parts
    const { script, keys, settings, listening } = this.#side
    const batch = this.#pending()
    const reader = this.#reader
    if (!batch && !listening) return false
    const place = [batch?.number ?? 0, writer, reader.position, reader.born, listening ? 1 : 0, REMEMBERED_MS, KEPT_MS]
    const answer = runner.run(script, [writerKey, ...keys], [...place, ...settings, ...(batch?.args ?? [])])
    return this.#answered((await this.#loop.inTime(answer)) as unknown[], batch, reader)
  }

  #pending(): Batch | undefined {
    const now = this.#parts.clock.now()
    if (this.#batch && now - this.#batch.since > REMEMBERED_MS / 2) {
      this.#batch = undefined
      this.#side.abandoned()
    }
    const args = this.#batch ? undefined : this.#side.next()
    if (args) this.#batch = { number: ++this.#number, args, since: now }
    return this.#batch
  }

  #answered([born, position, missed, more, ...news]: unknown[], batch: Batch | undefined, reader: Reader): boolean {
    this.#loop.answered()
    if (batch) {
      this.#batch = undefined
      this.#side.acknowledged()
    }
    // a reader that left or restarted in the meantime does not want messages for the previous reader
    if (this.#side.listening && reader === this.#reader) {
      reader.born = String(born)
      reader.position = String(position)
      this.#side.received(news, Number(missed) === 1)
      if (Number(more) === 1) return true
    }
    // a partial batch waits for the next tick, except when closing
    return this.#closing ? this.#side.waiting > 0 : this.#side.waiting >= 1
  }
}
