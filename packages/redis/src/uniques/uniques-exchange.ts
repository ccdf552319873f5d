import type { RedisHyperLogLog } from '@sluice/sketches'
import { BIRTH } from '../channel/channel-exchange.ts'
import type { ChannelSettings } from '../channel/channel-options.ts'
import { ExchangeLoop } from '../channel/exchange-loop.ts'
import { invalidReply } from '../client/redis-failure.ts'
import { mergeUniques } from '../lua/scripts.ts'
import { isServerTime, ServerClocks } from '../server-time/server-clocks.ts'
import { UniquesPeriod } from './uniques-period.ts'

export interface UniquesLocation {
  readonly topic: string
  /** First part of the Redis keys. Its braces put all of them into one hash slot. */
  readonly stored: string
  /** Length of the windows; 0 without windows. */
  readonly windowMs: number
  /** Time after the last exchange after which the Redis keys expire. Only used without windows. */
  readonly ttlMs: number
}

/**
 * Sends the registers of this process to Redis. Merging is idempotent, so registers without a reply are sent again
 * together with newer ones. All registers are sent again if Redis may have lost data.
 */
export class UniquesExchange {
  #current: UniquesPeriod = new UniquesPeriod()
  /** Previous window, until all of it has been sent. */
  #ended: UniquesPeriod | undefined
  readonly #settings: ChannelSettings
  readonly #place: UniquesLocation
  readonly #time: ServerClocks
  readonly #loop: ExchangeLoop
  readonly #stopListening: (() => void) | undefined

  constructor(settings: ChannelSettings, place: UniquesLocation) {
    this.#settings = settings
    this.#place = place
    this.#time = new ServerClocks(settings.runner, settings.clock)
    const { clock, observers } = settings
    this.#loop = new ExchangeLoop({ topic: place.topic, clock, observers, exchange: () => this.#exchange() })
    this.#stopListening = settings.runner.interrupted?.((event) => {
      if (event === 'back') this.#again()
    })
  }

  get current(): UniquesPeriod {
    return this.#current
  }

  /** Returns the Redis key of `period`; undefined while the number of the window is unknown. */
  keyOf({ index }: UniquesPeriod): string | undefined {
    const { stored, windowMs } = this.#place
    if (windowMs === 0) return stored
    return index === undefined ? undefined : `${stored}:${index}`
  }

  /** Starts the next window if it is due, and sends changes or waits for the pending exchange. Never rejects. */
  tick(): Promise<void> {
    this.#roll()
    return this.#loop.tick()
  }

  /** Waits up to `closeMs` for the pending exchange and for the rest to be sent. Nothing is sent afterwards. */
  async close(): Promise<void> {
    await this.#loop.close(this.#settings.closeMs)
    this.#stopListening?.()
  }

  async #exchange(): Promise<void> {
    // `close` starts an exchange without a tick
    this.#roll()
    if (this.#place.windowMs > 0 && this.#serverNow() === undefined) await this.#askTime()
    await this.#push(this.#current)
    const ended = this.#ended
    if (ended) await this.#push(ended)
    if (ended === this.#ended && !ended?.hasChanges) this.#ended = undefined
  }

  async #askTime(): Promise<void> {
    await this.#loop.inTime(this.#time.fetch(this.#place.stored))
    this.#roll()
  }

  /** Sends the changes of a period. If it rejects, the changes are sent again with the next exchange. */
  async #push(period: UniquesPeriod): Promise<void> {
    const { runner, clock, writer } = this.#settings
    const { stored, windowMs, ttlMs } = this.#place
    const key = this.keyOf(period)
    if (key === undefined) return
    const sent = period.next()
    const untilMs = windowMs === 0 ? 0 : ((period.index ?? 0) + 2) * windowMs
    const sentAt = clock.now()
    try {
      const keys = [key, `${key}:born`, `${key}:given`, `${key}:wide`]
      const answer = await this.#loop.inTime(runner.run(mergeUniques, keys, [writer, untilMs, ttlMs, textOf(sent)]))
      const { born, counted, serverMs } = replyOf(answer)
      this.#time.reported(stored, serverMs, sentAt)
      this.#answered(period.acknowledged(sent, born, counted))
    } catch (error) {
      period.hasChanges ||= sent !== undefined
      throw error
    }
  }

  #serverNow(): number | undefined {
    return this.#time.deadline(this.#place.stored, this.#settings.clock.now())
  }

  /**
   * Starts the next window if it is due. The previous window is sent until the next one ends and its Redis key expires.
   */
  #roll(): void {
    const now = this.#place.windowMs === 0 ? undefined : this.#serverNow()
    if (now === undefined) return
    const index = Math.floor(now / this.#place.windowMs)
    const current = this.#current
    current.index ??= index
    if (index <= current.index) return
    if (this.#ended) this.#drop(this.#ended)
    this.#ended = current
    if (index > current.index + 1) {
      this.#drop(current)
      this.#ended = undefined
    }
    this.#current = new UniquesPeriod()
    this.#current.index = index
  }

  #drop(period: UniquesPeriod): void {
    const lost = period.unsent()
    if (lost) this.#settings.observers.event('sync', { topic: this.#place.topic, dropped: lost.count() })
  }

  #again(): void {
    this.#time.forget()
    this.#current.resendAll()
    this.#ended?.resendAll()
  }

  #answered(kept: boolean): void {
    this.#loop.answered()
    if (!kept) this.#settings.observers.event('sync', { topic: this.#place.topic, missed: true })
  }
}

interface MergeReply {
  readonly born: string
  readonly counted: number
  readonly serverMs: number
}

/** Throws for a reply that the script does not return: the registers are sent again. */
function replyOf(reply: unknown): MergeReply {
  if (!Array.isArray(reply)) throw invalidReply()
  const [born, counted, serverMs] = reply as readonly unknown[]
  const known = { born: String(born), counted: Number(counted), serverMs: Number(serverMs) }
  const isCount = Number.isSafeInteger(known.counted) && known.counted >= 0
  // a NaN would make every later count and window of this process NaN
  if (!isCount || !BIRTH.test(known.born) || !isServerTime(known.serverMs)) throw invalidReply()
  return known
}

/**
 * Encodes bytes as latin1 characters, because arguments are strings. UTF-8 writes some of the characters as two bytes.
 */
function textOf(sent: RedisHyperLogLog | undefined): string {
  return sent ? Buffer.from(sent.toBytes()).toString('latin1') : ''
}
