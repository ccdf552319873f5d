import type { Channel, Clock, Duration, Observer } from '@sluice/limiter-core'
import {
  clockOf,
  everyTick,
  kindOf,
  Observers,
  optionsOf,
  parseDuration,
  parseMs,
  SluiceError,
} from '@sluice/limiter-core/backend'
import type { Sketch } from '../sketch.ts'
import { SharedSketch } from './shared-sketch.ts'

export interface ShareSketchOptions<S extends Sketch<S>> {
  /** A topic of the channel; the same in all processes that share, and shared once in each. */
  readonly topic: string
  /** Makes an empty one, in all processes of the same shape and, where it hashes keys, under the same `seed`. */
  readonly make: () => S
  /** Reads what others sent: `fromBytes` of its class, with the same seed. */
  readonly read: (bytes: Uint8Array) => S
  /** How often what is new goes out; default: 1 s. */
  readonly tickMs?: Duration | undefined
  /**
   * Counts begin anew after so much time, in all processes at once: a grid of the wall clock. What is counted until the
   * first tick of a window is still of the one before. Unless said they never do.
   */
  readonly window?: Duration | undefined
  readonly clock?: Partial<Clock> | undefined
  /**
   * They hear `sync` with the `topic` and one of these: `unread`, the code for which a message of another process could
   * not be read; `unsent`, the error for which ours was not taken, to be sent with the next tick; `late: true`, a message
   * of a window that is over, or counts of ours that could not be sent until then.
   */
  readonly observers?: readonly Observer[] | undefined
}

const OPTIONS = ['topic', 'make', 'read', 'tickMs', 'window', 'clock', 'observers'] as const

/**
 * One sketch of a whole fleet: each process counts into its `own`, and has all of them merged in `fleet`. What is new
 * goes out once a tick, as the bytes of a sketch, and is merged by all others. Over a channel that delivers exactly
 * once, as `redisChannel` does, everything counts exactly once.
 *
 * Throws `SLUICE_BAD_OPTION`, also for a sketch above 64 MiB, `SLUICE_BAD_DURATION`, and what `read` throws for an empty sketch of `make`.
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
    throw new SluiceError('SLUICE_BAD_DURATION', `shareSketch: tickMs: expected 1 ms or more, received ${tick}`)
  shared.stopsBy(everyTick(clock, tick, () => void shared.flush()))
  return shared
}
