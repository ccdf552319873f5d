import { createHash } from 'node:crypto'
import { AWAITED, type Clock, Deadlines, messageOf } from '@sluice/limiter-core/backend'
import type { SketchSeed } from '@sluice/sketches'
import { ALL, DayUniques, dateOf, dayOf, PRECISION, ROUTE_PRECISION, startOf } from './day-uniques.ts'
import type { UniqueDaySnapshot } from './snapshot.ts'
import type { UniqueRegisters, UniqueStore } from './unique-store.ts'
import type { UniqueSummary } from './unique-summary.ts'

export interface UniqueDaysOptions {
  readonly clock: Clock
  readonly store: UniqueStore
  /** Days that are kept, today included. */
  readonly days: number
  readonly byRoute: boolean
  /** Under which the days of processes of one secret and topic are known. */
  readonly group: string
  readonly seed: SketchSeed
  /** What this process saw, and heard of others. */
  readonly uniques: UniqueSummary
  /** Hears when an outage of the store begins and ends, as observers do. */
  readonly onSync: (data: Readonly<Record<string, unknown>>) => void
}

const EXCHANGE_MS = 60_000
const RETRY_MS = 5_000
const ANSWER_MS = 2_000
/** Names of one call. */
const MOST_ENTRIES = 32
/** A day that ended so long ago has all that processes bring which had no outage. */
const SETTLED_MS = 3_600_000

/** What a store is told of in the place of a topic. */
const TOPIC = 'uniques'

/** The name of a day begins with it: other keys, and sketches of another shape, are never merged with ours. */
export function uniqueGroup(secret: string, topic: string): string {
  const shape = `${PRECISION}.${ROUTE_PRECISION}`
  const hash = createHash('sha256').update(`@sluice/insight days ${shape}\0${topic}\0${secret}`)
  return hash.digest('base64url').slice(0, 16)
}

/**
 * Different keys of each of the last days, in all processes of one secret. Once a minute what is known of a day goes to
 * the store and is merged there; what the store did not take stays here and goes with the next exchange, whichever day it
 * is of. Days that are over are read again each hour, as another process may have brought something late.
 */
export class UniqueDays {
  readonly #options: UniqueDaysOptions
  readonly #deadlines: Deadlines
  /** Days of which the store may lack something, by number. */
  readonly #open = new Map<number, DayUniques>()
  /** Days that are over and stored. */
  readonly #settled = new Map<number, UniqueDaySnapshot>()
  #nextAt = Number.NEGATIVE_INFINITY
  #readHour = Number.NEGATIVE_INFINITY
  #failing = false

  constructor(options: UniqueDaysOptions) {
    this.#options = options
    this.#deadlines = new Deadlines(options.clock, ANSWER_MS, AWAITED)
  }

  /** To be called about once a second: exchanges where it is time. Never throws. */
  tick(): void {
    const now = this.#options.clock.now()
    if (now < this.#nextAt) return
    this.#nextAt = now + EXCHANGE_MS
    void this.exchange()
  }

  /** Brings what is known to the store, and learns what it has. Never rejects. */
  async exchange(): Promise<void> {
    const { clock, onSync } = this.#options
    const at = clock.wall()
    this.#collect(at)
    try {
      for (const day of [...this.#open.keys()].sort((a, b) => b - a)) await this.#bring(day, at)
      await this.#readDays(at)
      if (this.#failing) onSync({ topic: TOPIC, failed: false })
      this.#failing = false
    } catch (error) {
      this.#nextAt = clock.now() + RETRY_MS
      const code = (error as { code?: unknown } | undefined)?.code ?? messageOf(error)
      if (!this.#failing) onSync({ topic: TOPIC, failed: code })
      this.#failing = true
    }
  }

  /** Days of which anything is known, as of the last exchange, oldest first. */
  snapshot(): UniqueDaySnapshot[] {
    const { byRoute, clock, days } = this.#options
    const all = new Map(this.#settled)
    for (const [day, uniques] of this.#open) all.set(day, uniques.snapshot(day, byRoute))
    const first = dayOf(clock.wall()) - days + 1
    const known = [...all].filter(([day, { count }]) => day >= first && count > 0)
    return known.sort(([a], [b]) => a - b).map(([, snapshot]) => snapshot)
  }

  /** Brings what is left, within 2 s for each call. */
  async close(): Promise<void> {
    await this.exchange()
    this.#deadlines.close()
  }

  /** Takes down what is known of today, and of the end of yesterday. */
  #collect(at: number): void {
    const { days, uniques } = this.#options
    const today = dayOf(at)
    uniques.advance(at)
    // even where this process saw nobody, to learn what others saw
    this.#openDay(today)
    this.#collectDay(today)
    if (at - startOf(today) < SETTLED_MS) this.#collectDay(today - 1)
    for (const known of [this.#open, this.#settled]) {
      for (const day of known.keys()) if (day <= today - days) known.delete(day)
    }
  }

  #collectDay(day: number): void {
    for (const [name, sketch] of this.#options.uniques.ofDay(day)) {
      if (sketch.count() > 0) this.#openDay(day).merge(name, sketch)
    }
  }

  async #bring(day: number, at: number): Promise<void> {
    const { byRoute, days, store } = this.#options
    const uniques = this.#openDay(day)
    const entries = uniques.entries()
    const keepMs = startOf(day + days + 1) - at
    for (let from = 0; from < entries.length; from += MOST_ENTRIES) {
      const sent = entries.slice(from, from + MOST_ENTRIES)
      const merged = await this.#deadlines.inTime(store.merge(this.#nameOf(day), sent, keepMs))
      this.#read(
        uniques,
        sent.map(({ name }, index) => ({ name, registers: merged[index] })),
      )
    }
    if (at < startOf(day + 1) + SETTLED_MS) return
    this.#settled.set(day, uniques.snapshot(day, byRoute))
    this.#open.delete(day)
  }

  async #readDays(at: number): Promise<void> {
    const { byRoute, days, seed, store } = this.#options
    const hour = Math.floor(at / SETTLED_MS)
    if (hour === this.#readHour) return
    const today = dayOf(at)
    for (let day = today; day > today - days; day--) {
      const stored = await this.#deadlines.inTime(store.read(this.#nameOf(day)))
      if (stored.length === 0) continue
      const uniques = day === today ? this.#openDay(day) : (this.#open.get(day) ?? new DayUniques(seed))
      this.#read(uniques, stored)
      if (day < today && !this.#open.has(day)) this.#settled.set(day, uniques.snapshot(day, byRoute))
    }
    this.#readHour = hour
  }

  #read(uniques: DayUniques, entries: readonly UniqueRegisters[]): void {
    const { byRoute, onSync } = this.#options
    const wanted = byRoute ? entries : entries.filter(({ name }) => name === ALL)
    const unread = wanted.filter((entry) => !uniques.read(entry)).length
    if (unread > 0) onSync({ topic: TOPIC, unread })
  }

  #openDay(day: number): DayUniques {
    const uniques = this.#open.get(day) ?? new DayUniques(this.#options.seed)
    this.#open.set(day, uniques)
    return uniques
  }

  #nameOf(day: number): string {
    return `${this.#options.group}.${dateOf(day)}`
  }
}
