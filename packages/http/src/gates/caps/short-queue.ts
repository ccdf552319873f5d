import type { BackedInflightLimiter } from '@sluice/limiter-core/http'
import type { WaitingRoomOptions } from '../../overload/priority/waiting-room.ts'

/** Longest wait in ms. */
const LONGEST_MS = 1_000

/**
 * Returns the queue of a cap whose limit processes share, if none is configured. A share of a few places is full by
 * chance while other processes have free places. As many requests wait as a share varies by chance, until a place should
 * be free: for the time that work usually takes. Both follow the limit and the work.
 */
export function shortQueue({ learned }: BackedInflightLimiter, key: string): WaitingRoomOptions {
  return {
    get max() {
      return Math.max(1, Math.ceil(Math.sqrt(learned?.limitOf(key) ?? 1)))
    },
    get maxWaitMs() {
      return Math.min(LONGEST_MS, learned?.usualMsOf?.(key) ?? 0)
    },
  }
}
