import type { RedisHyperLogLog } from '@sluice/sketches'
import type { ChannelSettings } from '../channel/channel-options.ts'
import { ExchangeLoop } from '../channel/exchange-loop.ts'
import { ServerTime } from '../client/server-time.ts'
import { mergeUniques } from '../lua/scripts.ts'
import { UniquesPeriod } from './uniques-period.ts'

export interface UniquesLocation {
  readonly topic: string
  /** Name of the keys in Redis; its braces hold all of them in one slot. */
  readonly stored: string
  /** 0 if there are no windows. */
  readonly windowMs: number
  /** How long the keys live after the last exchange, without windows. */
  readonly ttlMs: number
}

/**
 * Sends to Redis what this process counted. Merging is idempotent, so unanswered registers are simply sent again with
 * newer ones; all of them if Redis may have lost data.
 */
export class UniquesExchange {
  #current: UniquesPeriod = new UniquesPeriod()
  /** The previous window, until Redis has all of it. */
  #ended: UniquesPeriod | undefined
  readonly #settings: ChannelSettings
  readonly #place: UniquesLocation
  readonly #time: ServerTime
  readonly #loop: ExchangeLoop
  readonly #stopListening: (() => void) | undefined

  constructor(settings: ChannelSettings, place: UniquesLocation) {
    this.#settings = settings
    this.#place = place
    this.#time = new ServerTime(settings.runner, settings.clock)
    const { clock, observers } = settings
    this.#loop = new ExchangeLoop({ topic: place.topic, clock, observers, exchange: () => this.#exchange() })
    this.#stopListening = settings.runner.interrupted?.((event) => {
      if (event === 'back') this.#again()
    })
  }

  get current(): UniquesPeriod {
    return this.#current
  }

  /** Returns the name under which Redis counts `period`; undefined while the current window is unknown. */
  keyOf({ index }: UniquesPeriod): string | undefined {
    const { stored, windowMs } = this.#place
    if (windowMs === 0) return stored
    return index === undefined ? undefined : `${stored}:${index}`
  }

  /** Starts the next window if it is due, and sends changes, unless an exchange is pending. Never rejects. */
  tick(): Promise<void> {
    this.#roll()
    return this.#loop.tick()
  }

  /** Waits for the pending exchange and sends the rest, for at most `closeMs`. Nothing is sent afterwards. */
  async close(): Promise<void> {
    await this.#loop.close(this.#settings.closeMs)
    this.#stopListening?.()
  }

  async #exchange(): Promise<void> {
    // `close` begins one, too
    this.#roll()
    if (this.#place.windowMs > 0 && this.#serverNow() === undefined) await this.#askTime()
    await this.#push(this.#current)
    const ended = this.#ended
    if (ended) await this.#push(ended)
    if (ended === this.#ended && !ended?.news) this.#ended = undefined
  }

  async #askTime(): Promise<void> {
    await this.#loop.inTime(this.#time.fetch(this.#place.stored))
    this.#roll()
  }

  /** Rejects if Redis did not answer; the registers are then sent again. */
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
      const [born, counted, serverMs] = answer as [string, number, number]
      this.#time.reported(stored, Number(serverMs), sentAt)
      this.#answered(period.acknowledged(sent, String(born), Number(counted)))
    } catch (error) {
      period.news ||= sent !== undefined
      throw error
    }
  }

  #serverNow(): number | undefined {
    return this.#time.deadline(this.#place.stored, this.#settings.clock.now())
  }

  /** A window that has ended is sent until the next one has ended too, when its key has expired. */
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
    const lost = period.lacking()
    if (lost) this.#settings.observers.event('sync', { topic: this.#place.topic, dropped: lost.count() })
  }

  #again(): void {
    this.#time.forget()
    this.#current.again()
    this.#ended?.again()
  }

  #answered(kept: boolean): void {
    this.#loop.answered()
    if (!kept) this.#settings.observers.event('sync', { topic: this.#place.topic, missed: true })
  }
}

/** Encodes bytes as latin1 characters: arguments are strings, and UTF-8 only makes some characters two bytes long. */
function textOf(sent: RedisHyperLogLog | undefined): string {
  return sent ? Buffer.from(sent.toBytes()).toString('latin1') : ''
}
