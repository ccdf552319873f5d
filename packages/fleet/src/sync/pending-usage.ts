import type { Counter, PriorUsage } from '@sluice/limiter-core/backend'
import { relevantMs } from './charge-late.ts'

/** Length of `takes` below which takes are not merged: eight takes of two numbers each. */
const MERGE_FROM = 16
/** Length of `takes` from which expired takes are dropped. Only an outage lets so many accumulate. */
const DROP_FROM = 128

/** The units that this process took from one key and has not reported yet. */
export class PendingUsage {
  readonly key: string
  readonly counter: Counter
  readonly partition: number
  /** Alternating times and units. Merged takes have the time of the first one. */
  readonly takes: number[] = []
  /** Sum of the units in `takes`. */
  units = 0
  /** Last known usage of the key, if the ledger may have lost it. */
  known: PriorUsage | undefined

  constructor(counter: Counter, key: string, partition: number) {
    this.counter = counter
    this.key = key
    this.partition = partition
  }

  /**
   * Adds units that were taken at `takenAt`; negative units are refunds. The first eight takes are kept separately,
   * later ones are merged with a take less than `spanMs` earlier. If there are many, takes that no longer matter are
   * dropped.
   */
  add(units: number, takenAt: number, spanMs: number): void {
    const { takes } = this
    if (takes.length >= DROP_FROM) this.forget(takenAt - relevantMs(this.counter.compiled))
    this.units += units
    const isFew = takes.length < MERGE_FROM
    for (let at = takes.length - 2; at >= 0; at -= 2) {
      const sinceFirst = takenAt - takes[at]
      if (isFew ? sinceFirst !== 0 : sinceFirst < 0 || sinceFirst >= spanMs) continue
      takes[at + 1] += units
      return
    }
    takes.push(takenAt, units)
  }

  /** Drops takes before `instant`. */
  forget(instant: number): void {
    const { takes } = this
    let kept = 0
    for (let at = 0; at < takes.length; at += 2) {
      if (takes[at] < instant) {
        this.units -= takes[at + 1]
        continue
      }
      takes[kept++] = takes[at]
      takes[kept++] = takes[at + 1]
    }
    takes.length = kept
  }

  /** Drops all units and the known usage. */
  clear(): void {
    this.units = 0
    this.known = undefined
    this.takes.length = 0
  }
}
