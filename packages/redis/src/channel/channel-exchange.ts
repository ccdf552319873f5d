import type { Clock, Observers, Script, ScriptRunner } from '@sluice/limiter-core/backend'
import { channelLeave } from '../lua/scripts.ts'
import { ExchangeLoop } from './exchange-loop.ts'

/** What nobody adds to for so long is forgotten. */
const KEPT_MS = 86_400_000
/** For so long the server remembers the last batch of a writer that is gone; a batch is not sent again after half of it. */
const REMEMBERED_MS = 3_600_000

type Arguments = readonly (string | number)[]

/** What one topic sends and receives. */
export interface ChannelSide {
  readonly topic: string
  readonly script: Script
  /** Of the script, after that of the writer. */
  readonly keys: readonly string[]
  readonly settings: Arguments
  /** True while news are wanted. */
  readonly listening: boolean
  /** How many batches wait to be sent; a part of one counts as a part. */
  readonly waiting: number
  /** What is to be sent, as arguments of the script; undefined where that is nothing. It is sent unchanged until it counts. */
  next(): Arguments | undefined
  /** The batch counts, once. */
  acknowledged(): void
  /** The batch was sent for so long that the server may have forgotten whether it counts: it is given up. */
  abandoned(): void
  /** What others sent. `missed`: some of it was gone before it could be received. */
  received(news: readonly unknown[], missed: boolean): void
}

export interface ChannelDeps {
  readonly runner: ScriptRunner
  readonly clock: Clock
  readonly observers: Observers
  /** Of this process and no other. */
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
 * Sends batches to a server so that each counts exactly once, and reads there what others sent. One batch at a time: it
 * has a number, and it is sent again under that number until an answer came; the server keeps the last number of
 * each writer. What was read is known by a position that moves only with an answer. So any request and any answer may be
 * lost, late or doubled.
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

  /** Sends and receives what there is, unless that is under way. Never rejects. */
  tick(): Promise<void> {
    return this.#loop.tick()
  }

  /** Waits for what is under way and sends what is left, for at most `ms`. Nothing is sent afterwards. */
  async close(ms: number): Promise<void> {
    this.#closing = true
    await this.#loop.close(ms)
    void this.#leave()
  }

  /** Nobody waits for it: where it fails, what is remembered of this writer ends a little later. */
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
    // who left meanwhile, or began anew, does not want what the reader of before was told
    if (this.#side.listening && reader === this.#reader) {
      reader.born = String(born)
      reader.position = String(position)
      this.#side.received(news, Number(missed) === 1)
      if (Number(more) === 1) return true
    }
    // a last part of a batch waits for the next tick, unless there is none
    return this.#closing ? this.#side.waiting > 0 : this.#side.waiting >= 1
  }
}
