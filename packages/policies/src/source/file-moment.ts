import type { BigIntStats } from 'node:fs'
import { systemClock } from '@sluice/limiter-core/backend'
import { versionOf } from './file-state.ts'

/** Longest time in which two changes leave the same time in a file system that counts nanoseconds. */
const FINE_MS = 20
/** The same in other file systems. */
const COARSE_MS = 2_000

/** State of a file before it is read. */
export class FileMoment {
  readonly version: string
  /** Whether a later change is sure to leave another time than the last change did. */
  readonly #isOldEnough: boolean

  constructor(stats: BigIntStats) {
    const isFine = stats.ctimeNs % 1_000_000n !== 0n
    this.version = versionOf(stats)
    this.#isOldEnough = systemClock.wall() - Number(stats.ctimeMs) > (isFine ? FINE_MS : COARSE_MS)
  }

  /** Returns the version if it identifies what was read: the file has not changed since, and cannot have kept its state. */
  versionIfSame(after: BigIntStats): string | undefined {
    return this.#isOldEnough && versionOf(after) === this.version ? this.version : undefined
  }
}
