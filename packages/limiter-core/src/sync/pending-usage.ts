import type { Counter, PriorUsage } from '../contracts.ts'
import { mattersMs } from './charge-late.ts'

/** Numbers of eight takes. */
const FEW_TAKES = 16
/** Numbers of takes of one key: more wait after an outage alone, and the oldest of them may matter no more. */
const MANY_TAKES = 128

/** What this process took of one key and has not reported yet. */
export class PendingUsage {
  readonly key: string
  readonly counter: Counter
  readonly partition: number
  /** Instants and units by turns, the first take of each span. */
  readonly takes: number[] = []
  units = 0
  /** Knowledge about the key, if the ledger may have lost it. */
  known: PriorUsage | undefined

  constructor(counter: Counter, key: string, partition: number) {
    this.counter = counter
    this.key = key
    this.partition = partition
  }

  /**
   * Adds units taken at `takenAt`; negative units are refunds. The first entries are separate; then units within one
   * span are merged. If there are many, entries that no longer matter are dropped.
   */
  add(units: number, takenAt: number, spanMs: number): void {
    const { takes } = this
    if (takes.length >= MANY_TAKES) this.forget(takenAt - mattersMs(this.counter.compiled))
    this.units += units
    const isFew = takes.length < FEW_TAKES
    for (let at = takes.length - 2; at >= 0; at -= 2) {
      const sinceFirst = takenAt - takes[at]
      if (isFew ? sinceFirst !== 0 : sinceFirst < 0 || sinceFirst >= spanMs) continue
      takes[at + 1] += units
      return
    }
    takes.push(takenAt, units)
  }

  /** Drops what was taken before `instant`. */
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

  /** Drops all units and the knowledge about the key. */
  clear(): void {
    this.units = 0
    this.known = undefined
    this.takes.length = 0
  }
}
