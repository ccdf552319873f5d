import { settledWithin } from '@sluice/fleet/backend'
import {
  type CapHandle,
  type Channel,
  type Clock,
  type Decision,
  type ObservedCap,
  type ObservedRequest,
  type Observer,
  type ObserverEvent,
  type Policy,
  repeatEvery,
} from '@sluice/limiter-core/backend'
import type { SketchSeed } from '@sluice/sketches'
import { boundedKey } from '../bounded-key.ts'
import type { UnreadMessages } from '../unread-messages.ts'
import { collapsedSnapshot } from './collapsed-snapshot.ts'
import { FleetDenials } from './fleet/fleet-denials.ts'
import { FleetSummary } from './fleet/fleet-summary.ts'
import { sketchSeed } from './key-names.ts'
import { ProcessSummary } from './process/process-summary.ts'
import type { RecentDenials } from './process/recent-denials.ts'
import { REPORT_MS } from './report/process-report.ts'
import { reportMessage, reportOf } from './report/report-message.ts'
import type { DenialSnapshot, LiveSnapshot, SourceSnapshot } from './report/snapshot.ts'
import type { KeyNames } from './report/top-keys.ts'
import { StoredUniqueDays, uniqueGroup } from './uniques/unique-days.ts'
import { type UniqueOptions, UniqueSummary } from './uniques/unique-summary.ts'

/** Maximum time that `close` waits for the channel, in ms. */
const PUBLISH_MS = 2_000

export interface LiveOptions {
  readonly clock: Clock
  readonly names: KeyNames
  readonly denials: RecentDenials
  readonly secret: string | undefined
  readonly channel: Channel | undefined
  readonly topic: string
  readonly unique: UniqueOptions
  readonly unread: UnreadMessages
  /** Returns the metrics of the sources attached in this process. */
  readonly sources: () => readonly SourceSnapshot[]
  /** Returns the number of requests that wait in this process, by cap. */
  readonly waiting: () => ReadonlyMap<string, number>
  /** Called with `sync` event data about the store of unique keys. */
  readonly onSync: (data: Readonly<Record<string, unknown>>) => void
}

/** Maximum number of days of unique keys in a store. */
export const MAX_DAYS = 31

/**
 * Live statistics of limits over all processes of a channel: each process reports its counts once per second and adds
 * up the reports of all. Without a channel it covers this process.
 *
 * Memory: about 1 MB for five policies and ten routes, at most 32 MB (50 policies, 20 caps, 200 routes, and names
 * chosen to fill it). Each other process takes 5 KB, at most 200 KB. Days of unique keys take up to 110 KB for each day
 * that the store has not yet accepted, and 100 KB for all others together.
 */
export class LiveSummaries implements Observer {
  readonly #options: LiveOptions
  readonly #process: ProcessSummary
  readonly #fleet: FleetSummary
  readonly #fleetDenials = new FleetDenials()
  readonly #days: StoredUniqueDays | undefined
  readonly #stop: () => void
  readonly #unsubscribe: () => void
  #closed = false

  constructor(options: LiveOptions) {
    this.#options = options
    const { clock, names, denials, secret, channel, topic, unique, waiting } = options
    const shared = channel !== undefined
    const seed = sketchSeed(secret, shared ? topic : undefined)
    const uniques = new UniqueSummary(unique, seed, clock.wall())
    this.#days = daysOf(options, seed, uniques)
    this.#process = new ProcessSummary({ clock, names, uniques, denials, waiting })
    this.#fleet = new FleetSummary({ clock, self: this.#process.facts.id, isWholeFleet: shared, uniques })
    this.#unsubscribe = channel?.subscribe(topic, (bytes) => this.#receive(bytes)) ?? (() => {})
    this.#stop = repeatEvery(clock, REPORT_MS, () => void this.#report())
  }

  decided(key: string, decision: Decision, request?: ObservedRequest): void {
    this.#process.decided(key, decision, request)
  }

  charged(_key: string, units: number, policy: Policy): void {
    this.#process.charged(units, policy)
  }

  capOpened(cap: CapHandle): void {
    this.#process.capOpened(cap)
  }

  permitAcquired(key: string, cap: ObservedCap): void {
    this.#process.permitAcquired(key, cap)
  }

  permitReleased(key: string, heldMs: number, cap: ObservedCap): void {
    this.#process.permitReleased(key, heldMs, cap)
  }

  capDenied(key: string, cap: ObservedCap): void {
    this.#process.capDenied(key, cap)
  }

  event(name: ObserverEvent, data: Readonly<Record<string, unknown>>): void {
    this.#process.event(name, data)
  }

  /**
   * Returns a snapshot: this process as of now (response times and events as of the last second), other processes as of
   * their last reports.
   */
  snapshot(): LiveSnapshot {
    this.#fleet.absorb(this.#process.current())
    const { sources, unread } = this.#options
    const collapsed = collapsedSnapshot()
    const snapshot = {
      ...this.#fleet.snapshot(),
      ...(collapsed && { collapsed }),
      sources: sources(),
      unreadMessages: unread.count,
    }
    const days = this.#days?.snapshot()
    return days ? { ...snapshot, uniques: { ...snapshot.uniques, days } } : snapshot
  }

  /** Removes the bans of a key from the snapshot, in one policy or in all. */
  bansLifted(key: string, policy: string | undefined): void {
    this.#fleet.bans.lifted(this.#options.names.id(boundedKey(key)), policy)
  }

  /** Returns recent denials of a key in all processes. */
  denialsOf(key: string): DenialSnapshot[] {
    const { names, denials } = this.#options
    return [...denials.of(key), ...this.#fleetDenials.of(names.id(key))]
  }

  /** Returns the key with this id, or undefined if this process has not seen it recently. */
  keyOf(id: string): string | undefined {
    const { names, denials } = this.#options
    for (const keys of [denials.keys(), this.#process.keys()])
      for (const key of keys) if (names.id(key) === id) return key
    return undefined
  }

  /** Sends the last report. The channel stays open, because it belongs to the caller. */
  async close(): Promise<void> {
    if (this.#closed) return
    this.#closed = true
    this.#stop()
    this.#unsubscribe()
    await Promise.all([this.#report(), this.#days?.close()])
  }

  async #report(): Promise<void> {
    const report = this.#process.next()
    this.#fleet.absorb(report)
    this.#fleet.advance()
    if (!this.#closed) this.#days?.tick()
    const { channel, clock, topic } = this.#options
    const message = channel && reportMessage(report)
    if (!message) return
    // the channel reports a failure to its observers; counts are cumulative, so the next report makes up for this one
    const sent = (async () => channel.publish(topic, message))()
    await settledWithin(sent, PUBLISH_MS, clock)
  }

  #receive(bytes: Uint8Array): void {
    try {
      const report = reportOf(bytes)
      this.#fleet.absorb(report)
      // its own denials are known in full
      if (report.process.id !== this.#process.facts.id) {
        this.#fleetDenials.absorb(report.process.id, report.news.denials ?? [])
      }
    } catch {
      this.#options.unread.add(this.#options.topic)
    }
  }
}

function daysOf(options: LiveOptions, seed: SketchSeed, uniques: UniqueSummary): StoredUniqueDays | undefined {
  const { clock, secret, topic, onSync } = options
  const { store, days = MAX_DAYS, per } = options.unique
  if (!store || secret === undefined) return undefined
  const group = uniqueGroup(secret, topic)
  return new StoredUniqueDays({ clock, store, days, byRoute: per === 'route', group, seed, uniques, onSync })
}
