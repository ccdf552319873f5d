import type { Channel, Clock, Duration, Observer } from '@sluice/limiter-core'
import {
  clockOf,
  kindOf,
  Observers,
  optionsOf,
  parseDuration,
  parseMs,
  repeatEvery,
  SluiceError,
} from '@sluice/limiter-core/backend'
import type { Sketch } from '../sketch.ts'
import { SharedSketch } from './shared-sketch.ts'

export interface ShareSketchOptions<S extends Sketch<S>> {
  /** A topic of the channel; the same in all processes that share, and shared once in each. */
  readonly topic: string
  /** Makes an empty one, in all processes of the same shape and, where it hashes keys, under the same `seed`. */
  readonly make: () => S
  /** Reads the bytes of other processes: `fromBytes` of the sketch class, with the same seed. */
  readonly read: (bytes: Uint8Array) => S
  /** Time between two messages with new counts. Default: 1 s. */
  readonly tickMs?: Duration | undefined
  /**
   * Length after which counts start from zero in all processes at once, aligned to the wall clock. Counts up to the
   * first tick of a window belong to the previous one. Default: counts never restart.
   */
  readonly window?: Duration | undefined
  readonly clock?: Partial<Clock> | undefined
  /**
   * Receive `sync` with the `topic` and one of: `unread`, the code with which a message of another process could not
   * be read; `unsent`, the error with which a message of this process failed, to be sent again at the next tick;
   * `late: true`, a message of a window that has ended, or counts that could not be sent before it ended.
   */
  readonly observers?: readonly Observer[] | undefined
}

const OPTIONS = ['topic', 'make', 'read', 'tickMs', 'window', 'clock', 'observers'] as const

/**
 * Shares one sketch between processes: each process counts into `own`, and reads the merged sketch of all from
 * `fleet`. New counts are sent once per tick as the bytes of a sketch, and merged by all others. Over a channel with
 * exactly-once delivery, such as `redisChannel`, everything counts exactly once.
 *
 * Throws `SLUICE_BAD_OPTION`, also for a sketch above 64 MiB, `SLUICE_BAD_DURATION`, and what `read` throws for an
 * empty sketch of `make`.
 */
export function shareSketch<S extends Sketch<S>>(channel: Channel, options: ShareSketchOptions<S>): SharedSketch<S> {
  optionsOf('shareSketch', options, OPTIONS)
  const { topic, make, read, tickMs = 1_000, window } = options
  for (const [name, value] of Object.entries({ make, read })) {
    if (typeof value === 'function') continue
    throw new SluiceError('SLUICE_BAD_OPTION', `shareSketch: ${name}: expected a function, received ${kindOf(value)}`)
  }
  const clock = clockOf(options.clock)
  const shared = new SharedSketch(channel, {
    topic,
    make,
    read,
    clock,
    windowMs: window === undefined ? undefined : parseDuration(window, 'shareSketch: window'),
    observers: new Observers(options.observers),
  })
  const tick = parseMs(tickMs, 'shareSketch: tickMs')
  if (tick < 1)
    throw new SluiceError('SLUICE_BAD_DURATION', `shareSketch: tickMs: expected at least 1 ms, received ${tick}`)
  shared.stopsBy(repeatEvery(clock, tick, () => void shared.flush()))
  return shared
}
