import { createHash } from 'node:crypto'
import { type Clock, Deadlines, KEEP_ALIVE, messageOf } from '@sluice/limiter-core/backend'
import type { SketchSeed } from '@sluice/sketches'
import type { UniqueDaySnapshot } from '../report/snapshot.ts'
import { ALL, DayUniques, dateOf, dayOf, PRECISION, ROUTE_PRECISION, startOf } from './day-uniques.ts'
import type { UniqueRegisters, UniqueStore } from './unique-store.ts'
import type { UniqueSummary } from './unique-summary.ts'

export interface UniqueDaysOptions {
  readonly clock: Clock
  readonly store: UniqueStore
  /** Number of days to keep, including today. */
  readonly days: number
  readonly byRoute: boolean
  /** Name prefix shared by all processes with the same secret and topic. */
  readonly group: string
  readonly seed: SketchSeed
  /** Unique keys seen by this process and received from others. */
  readonly uniques: UniqueSummary
  /** Called when an outage of the store begins or ends. */
  readonly onSync: (data: Readonly<Record<string, unknown>>) => void
}

const EXCHANGE_MS = 60_000
const RETRY_MS = 5_000
const ANSWER_MS = 2_000
/** Maximum number of names per call to the store. */
const MAX_ENTRIES = 32
/** Time after the end of a day by which all processes without an outage have stored it. */
const SETTLED_MS = 3_600_000

/** Topic of `sync` events about the store. */
const TOPIC = 'uniques'

/**
 * Returns the name prefix of stored days. It depends on the secret, the topic and the sketch precisions, so that
 * incompatible sketches are never merged.
 */
export function uniqueGroup(secret: string, topic: string): string {
  const shape = `${PRECISION}.${ROUTE_PRECISION}`
  const hash = createHash('sha256').update(`@sluice/insight days ${shape}\0${topic}\0${secret}`)
  return hash.digest('base64url').slice(0, 16)
}

/**
 * Unique keys per day over all processes with the same secret. Once a minute, each day with new data is merged into the
 * store. Data that the store did not accept stays in memory and is sent with a later exchange, whichever day it belongs
 * to. Past days are read again every hour, because another process may have added data late.
 */
export class StoredUniqueDays {
  readonly #options: UniqueDaysOptions
  readonly #deadlines: Deadlines
  /** Days whose data may be missing from the store, by day number. */
  readonly #open = new Map<number, DayUniques>()
  /** Past days that are stored. */
  readonly #settled = new Map<number, UniqueDaySnapshot>()
  #nextAt = Number.NEGATIVE_INFINITY
  #readHour = Number.NEGATIVE_INFINITY
  #failing = false

  constructor(options: UniqueDaysOptions) {
    this.#options = options
    this.#deadlines = new Deadlines(options.clock, ANSWER_MS, KEEP_ALIVE)
  }

  /** Called about once per second; starts an exchange when one is due. Never throws. */
  tick(): void {
    const now = this.#options.clock.now()
    if (now < this.#nextAt) return
    this.#nextAt = now + EXCHANGE_MS
    void this.exchange()
  }

  /** Sends all open days to the store and reads the stored days. Never rejects. */
  async exchange(): Promise<void> {
    const { clock, onSync } = this.#options
    const at = clock.wall()
    this.#collect(at)
    try {
      for (const day of [...this.#open.keys()].sort((a, b) => b - a)) await this.#store(day, at)
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

  /** Returns the days with at least one key as of the last exchange, oldest first. */
  snapshot(): UniqueDaySnapshot[] {
    const { byRoute, clock, days } = this.#options
    const all = new Map(this.#settled)
    for (const [day, uniques] of this.#open) all.set(day, uniques.snapshot(day, byRoute))
    const first = dayOf(clock.wall()) - days + 1
    const known = [...all].filter(([day, { count }]) => day >= first && count > 0)
    return known.sort(([a], [b]) => a - b).map(([, snapshot]) => snapshot)
  }

  /** Sends the remaining data. Each call to the store may take up to 2 s. */
  async close(): Promise<void> {
    await this.exchange()
    this.#deadlines.close()
  }

  /** Collects the keys of today, and of yesterday during the first hour of a day. */
  #collect(at: number): void {
    const { days, uniques } = this.#options
    const today = dayOf(at)
    uniques.advance(at)
    // open today even if this process saw no keys, to read what others saw
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

  async #store(day: number, at: number): Promise<void> {
    const { byRoute, days, store } = this.#options
    const uniques = this.#openDay(day)
    const entries = uniques.entries()
    const keepMs = startOf(day + days + 1) - at
    for (let from = 0; from < entries.length; from += MAX_ENTRIES) {
      const sent = entries.slice(from, from + MAX_ENTRIES)
      const merged = await this.#deadlines.inTime(store.merge(this.#nameOf(day), sent, keepMs))
      this.#mergeStored(
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
      this.#mergeStored(uniques, stored)
      if (day < today && !this.#open.has(day)) this.#settled.set(day, uniques.snapshot(day, byRoute))
    }
    this.#readHour = hour
  }

  #mergeStored(uniques: DayUniques, entries: readonly UniqueRegisters[]): void {
    const { byRoute, onSync } = this.#options
    const relevant = byRoute ? entries : entries.filter(({ name }) => name === ALL)
    const unread = relevant.filter((entry) => !uniques.read(entry)).length
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
