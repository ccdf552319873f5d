import {
  type Channel,
  type Clock,
  type Decision,
  everyTick,
  type ObservedCap,
  type ObservedRequest,
  type Observer,
  type ObserverEvent,
  type Policy,
} from '@sluice/limiter-core/backend'
import type { SketchSeed } from '@sluice/sketches'
import { FleetDenials } from './fleet-denials.ts'
import { FleetSummary } from './fleet-summary.ts'
import { sketchSeed } from './key-names.ts'
import { REPORT_MS } from './process-report.ts'
import { ProcessSummary } from './process-summary.ts'
import type { RecentDenials } from './recent-denials.ts'
import { reportMessage, reportOf } from './report-message.ts'
import type { DenialSnapshot, LiveSnapshot, SourceSnapshot } from './snapshot.ts'
import type { KeyNames } from './top-keys.ts'
import { UniqueDays, uniqueGroup } from './unique-days.ts'
import { type UniqueOptions, UniqueSummary } from './unique-summary.ts'

export interface LiveOptions {
  readonly clock: Clock
  readonly names: KeyNames
  readonly denials: RecentDenials
  readonly secret: string | undefined
  readonly channel: Channel | undefined
  readonly topic: string
  readonly unique: UniqueOptions
  /** What sources of this process measured. */
  readonly sources: () => readonly SourceSnapshot[]
  /** Hears `sync` of what keeps unique keys. */
  readonly onSync: (data: Readonly<Record<string, unknown>>) => void
}

/** Days of unique keys, where a store keeps them. */
export const MOST_DAYS = 31

/**
 * What limits do now, in all processes of a channel: each reports once a second what it counted, and adds up what all
 * of them reported. Without a channel it is what this process does.
 *
 * About 1 MB for five policies and ten routes; 32 MB at most, with 50 policies, 20 caps, 200 routes and keys, names and
 * routes that somebody made to fill it; and for each other process that reports 5 KB, at most 200 KB. Days of unique keys
 * take up to 110 KB for each day that their store did not take yet, and 100 KB for all others.
 */
export class LiveSummaries implements Observer {
  readonly #options: LiveOptions
  readonly #process: ProcessSummary
  readonly #fleet: FleetSummary
  readonly #fleetDenials = new FleetDenials()
  readonly #days: UniqueDays | undefined
  readonly #stop: () => void
  readonly #unsubscribe: () => void
  #closed = false

  constructor(options: LiveOptions) {
    this.#options = options
    const { clock, names, denials, secret, channel, topic, unique } = options
    const shared = channel !== undefined
    const seed = sketchSeed(secret, shared ? topic : undefined)
    const uniques = new UniqueSummary(unique, seed, clock.wall())
    this.#days = daysOf(options, seed, uniques)
    this.#process = new ProcessSummary({ clock, names, uniques, denials })
    this.#fleet = new FleetSummary({ clock, self: this.#process.facts.id, isWholeFleet: shared, uniques })
    this.#unsubscribe = channel?.subscribe(topic, (bytes) => this.#receive(bytes)) ?? (() => {})
    this.#stop = everyTick(clock, REPORT_MS, () => void this.#report())
  }

  decided(key: string, decision: Decision, request?: ObservedRequest): void {
    this.#process.decided(key, decision, request)
  }

  charged(_key: string, units: number, policy: Policy): void {
    this.#process.charged(units, policy)
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

  /** This process as of now, durations and events as of the last second; others as of their last reports. */
  snapshot(): LiveSnapshot {
    this.#fleet.absorb(this.#process.current())
    const snapshot = { ...this.#fleet.snapshot(), sources: this.#options.sources() }
    const days = this.#days?.snapshot()
    return days ? { ...snapshot, uniques: { ...snapshot.uniques, days } } : snapshot
  }

  /** Denials of a key of late, in all processes. */
  denialsOf(key: string): DenialSnapshot[] {
    const { names, denials } = this.#options
    return [...denials.of(key), ...this.#fleetDenials.of(names.id(key))]
  }

  /** The key of an id, where this process has seen it of late. */
  keyOf(id: string): string | undefined {
    const { names, denials } = this.#options
    for (const keys of [denials.keys(), this.#process.keys()])
      for (const key of keys) if (names.id(key) === id) return key
    return undefined
  }

  /** Reports what is left. The channel is the caller's and stays open. */
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
    const { channel, topic } = this.#options
    const message = channel && reportMessage(report)
    if (!message) return
    try {
      await channel.publish(topic, message)
    } catch {
      // whoever watches the channel hears why; the next report has the same counts and more
    }
  }

  #receive(bytes: Uint8Array): void {
    try {
      const report = reportOf(bytes)
      this.#fleet.absorb(report)
      // of its own it knows more
      if (report.process.id !== this.#process.facts.id) {
        this.#fleetDenials.absorb(report.process.id, report.news.denials ?? [])
      }
    } catch {
      this.#fleet.unread++
    }
  }
}

function daysOf(options: LiveOptions, seed: SketchSeed, uniques: UniqueSummary): UniqueDays | undefined {
  const { clock, secret, topic, onSync } = options
  const { store, days = MOST_DAYS, per } = options.unique
  if (!store || secret === undefined) return undefined
  const group = uniqueGroup(secret, topic)
  return new UniqueDays({ clock, store, days, byRoute: per === 'route', group, seed, uniques, onSync })
}
