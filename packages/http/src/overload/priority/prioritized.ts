import type { Clock, Duration, InflightBackend } from '@sluice/limiter-core'
import { checkedUnits, clockOf, optionsOf, parseTimerMs } from '@sluice/limiter-core/http'
import type { QueueOf } from './prioritized-cap.ts'
import { PrioritizedInflight } from './prioritized-inflight.ts'
import { type Prioritizer, thresholdOf } from './prioritizer.ts'
import type { WaitingRoomOptions } from './waiting-room.ts'

/** A short queue for work that finds no free place. */
export interface QueueOptions {
  /** Number of requests of a key that may wait, an integer of at least 1. */
  readonly max: number
  /** Longest wait, 1 ms to 2^31 - 1 ms. Under lasting overload, a fifth of it. */
  readonly maxWaitMs: Duration
}

/** Options of `prioritizedInflight`. */
export interface PrioritizedInflightOptions {
  /** Default: work does not wait, and `acquire` is synchronous. */
  readonly queue?: QueueOptions | undefined
  /** From `createPrioritizer`, if several caps protect the same resource. Default: a new threshold. */
  readonly prioritizer?: Prioritizer | undefined
  readonly clock?: Clock | undefined
}

/**
 * Returns a backend of caps that refuses the least important work first: pass it as `backend` of
 * `createInflightLimiter`, and `priority` and `client` to `acquire`. Limiters of requests create it from their options
 * `priority`, `fairBy`, `queue` and `prioritizer`. Throws `SLUICE_BAD_OPTION`, `SLUICE_BAD_LIMIT` or
 * `SLUICE_BAD_DURATION`.
 */
export function prioritizedInflight(options: PrioritizedInflightOptions = {}): InflightBackend {
  return openPrioritized(options)
}

/** Like `prioritizedInflight`. `usualQueueOf`: how requests may wait if there is no option. */
export function openPrioritized(options: PrioritizedInflightOptions, usualQueueOf?: QueueOf): PrioritizedInflight {
  const known = ['queue', 'prioritizer', 'clock'] as const
  const { queue, prioritizer, clock } = optionsOf('prioritizedInflight', options, known)
  const time = clockOf(clock)
  const given = queue === undefined ? undefined : parseQueue(queue)
  const queueOf = given ? () => given : usualQueueOf
  return new PrioritizedInflight({ clock: time, threshold: thresholdOf(prioritizer, time), queueOf })
}

function parseQueue(queue: QueueOptions): WaitingRoomOptions {
  const { max, maxWaitMs } = optionsOf('queue', queue, ['max', 'maxWaitMs'])
  return { max: checkedUnits(max, 'queue.max'), maxWaitMs: parseTimerMs(maxWaitMs, 'queue.maxWaitMs') }
}
