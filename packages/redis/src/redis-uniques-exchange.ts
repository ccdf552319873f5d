import { AWAITED, Deadlines, messageOf } from '@sluice/limiter-core'
import type { RedisHyperLogLog } from '@sluice/sketches'
import type { ChannelSettings } from './channel-options.ts'
import { mergeUniques } from './lua/merge-uniques.ts'
import { UniquesPeriod } from './redis-uniques-period.ts'
import { ServerTime } from './server-time.ts'

/** An exchange that has no answer by then is begun again; each is safe to repeat. */
const ANSWER_MS = 1_000

export interface UniquesLocation {
  readonly topic: string
  /** Name of the keys in Redis; its braces hold all of them in one slot. */
  readonly stored: string
  /** 0 where there are no windows. */
  readonly windowMs: number
  /** How long the keys live from the last exchange on, where there are no windows. */
  readonly ttlMs: number
}

/**
 * Brings what this process saw to Redis. Merging is idempotent, so what was not answered is simply sent again, with
 * whatever else is new by then; and where Redis may have lost something, all of it.
 */
export class UniquesExchange {
  #current: UniquesPeriod = new UniquesPeriod()
  /** The window before, until Redis has all of it. */
  #ended: UniquesPeriod | undefined
  readonly #settings: ChannelSettings
  readonly #place: UniquesLocation
  readonly #time: ServerTime
  readonly #deadlines: Deadlines
  readonly #stopListening: (() => void) | undefined
  #underWay: Promise<void> | undefined
  #failing = false
  #closed = false

  constructor(settings: ChannelSettings, place: UniquesLocation) {
    this.#settings = settings
    this.#place = place
    this.#time = new ServerTime(settings.runner, settings.clock)
    this.#deadlines = new Deadlines(settings.clock, ANSWER_MS)
    this.#stopListening = settings.runner.interrupted?.((event) => {
      if (event === 'back') this.#again()
    })
  }

  get current(): UniquesPeriod {
    return this.#current
  }

  /** The name under which Redis counts `period`; undefined as long as nobody knows which window it is. */
  keyOf({ index }: UniquesPeriod): string | undefined {
    const { stored, windowMs } = this.#place
    if (windowMs === 0) return stored
    return index === undefined ? undefined : `${stored}:${index}`
  }

  /** Begins the next window where it is time, and sends what there is, unless that is under way. Never rejects. */
  tick(): Promise<void> {
    this.#roll()
    this.#underWay ??= this.#exchange().finally(() => {
      this.#underWay = undefined
    })
    return this.#underWay
  }

  /** Waits for what is under way and sends what is left, for at most `closeMs`. Nothing is sent afterwards. */
  async close(): Promise<void> {
    const { clock, closeMs } = this.#settings
    const flushed = (this.#underWay ?? Promise.resolve()).then(() => this.tick())
    await new Promise<void>((resolve) => {
      const cancel = clock.after(closeMs, resolve, AWAITED)
      flushed.then(() => {
        cancel()
        resolve()
      })
    })
    this.#closed = true
    this.#stopListening?.()
    this.#deadlines.close()
  }

  async #exchange(): Promise<void> {
    if (this.#closed) return
    try {
      if (this.#place.windowMs > 0 && this.#serverNow() === undefined) await this.#askTime()
      await this.#push(this.#current)
      const ended = this.#ended
      if (ended) await this.#push(ended)
      if (ended === this.#ended && !ended?.news) this.#ended = undefined
    } catch (error) {
      this.#failed(error)
    }
  }

  async #askTime(): Promise<void> {
    await this.#inTime(this.#time.ask(this.#place.stored))
    this.#roll()
  }

  /** Rejects where Redis did not answer; then what was sent is news again. */
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
      const answer = await this.#inTime(runner.run(mergeUniques, keys, [writer, untilMs, ttlMs, textOf(sent)]))
      const [born, counted, serverMs] = answer as [string, number, number]
      this.#time.told(stored, Number(serverMs), sentAt)
      this.#answered(period.acknowledged(sent, String(born), Number(counted)))
    } catch (error) {
      period.news ||= sent !== undefined
      throw error
    }
  }

  /** Rejects where there is no answer in time. */
  #inTime<T>(answer: Promise<T>): Promise<T> {
    return this.#deadlines.race<T, Promise<T>>(answer, {
      answered: (value) => Promise.resolve(value),
      failed: (error) => Promise.reject(error),
      late: () => Promise.reject({ code: 'LATE' }),
    }) as Promise<T>
  }

  #serverNow(): number | undefined {
    return this.#time.deadline(this.#place.stored, this.#settings.clock.now())
  }

  /** A window that is over goes on being sent until the one after it is over too, when its key is gone. */
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
    const { observers } = this.#settings
    const { topic } = this.#place
    if (this.#failing) observers.event('sync', { topic, failed: false })
    this.#failing = false
    if (!kept) observers.event('sync', { topic, missed: true })
  }

  /** Once an outage, not once a tick. */
  #failed(error: unknown): void {
    if (!this.#failing) {
      const code = (error as { code?: unknown } | undefined)?.code ?? messageOf(error)
      this.#settings.observers.event('sync', { topic: this.#place.topic, failed: code })
    }
    this.#failing = true
  }
}

/** Its bytes as characters of latin1: arguments are text, and UTF-8 makes two bytes of some and nothing worse. */
function textOf(sent: RedisHyperLogLog | undefined): string {
  return sent ? Buffer.from(sent.toBytes()).toString('latin1') : ''
}
