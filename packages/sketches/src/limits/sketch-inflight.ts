import { type Clock, clockOf, type InflightBackend, type Observer, Observers } from '@sluice/limiter-core/backend'
import { MOST_COLUMNS, MOST_ROWS } from '../key-rows.ts'
import { checkOptions, described, SketchError, wholeOption } from '../sketch-error.ts'
import { type SeedOption, seedOf } from '../sketch-seed.ts'
import { SketchInflightTable } from './sketch-inflight-table.ts'

export interface SketchInflightOptions extends SeedOption {
  /** Default: 4, at most 32. */
  readonly rows?: number | undefined
  /** Cells of a row; default: 8,192, at most 2²⁴. 4 bytes each. Take more than 8 for each place in flight at once. */
  readonly slots?: number | undefined
  /**
   * From how many places on a key is counted exactly: a share of the limit, above 0 and below 1, or a whole number.
   * Default: never.
   */
  readonly trigger?: number | undefined
  readonly clock?: Clock | undefined
  /**
   * Told `event('saturated', { backend, cap, limit, share })` while one key in a hundred or more, their `share`, finds
   * half of its limit taken by others before it holds anything. Asked after a denial, once a second at most for each cap.
   */
  readonly observers?: readonly Observer[] | undefined
}

const OPTIONS = ['rows', 'slots', 'seed', 'trigger', 'clock', 'observers'] as const
const ROWS = 4
const SLOTS = 8192

/**
 * Permits of this process, counted in a fixed number of cells whatever the number of keys: the `backend` of any number
 * of caps, each of which is told apart by its name and brings its limit. `docs/sketch-inflight.md` has the arithmetic.
 *
 * No key ever holds more places than the limit. A key whose cells are all shared with others in flight may be denied
 * below it, by as many places as they hold in the emptiest of these cells. With `trigger` a key is charged with no more
 * of that than there was when it reached the trigger, and what it holds above it is not charged to others.
 *
 * Answers at once. Throws coded errors for bad options.
 */
export function sketchInflight(options: SketchInflightOptions = {}): InflightBackend {
  checkOptions('sketchInflight', options, OPTIONS)
  return new SketchInflightTable({
    rows: wholeOption('sketchInflight: rows', options.rows ?? ROWS, 1, MOST_ROWS),
    slots: wholeOption('sketchInflight: slots', options.slots ?? SLOTS, 1, MOST_COLUMNS),
    seed: seedOf(options),
    triggerOf: triggerRule(options.trigger),
    clock: clockOf(options.clock),
    observers: new Observers(options.observers),
  })
}

function triggerRule(trigger: number | undefined): ((limit: number) => number) | undefined {
  if (trigger === undefined) return undefined
  if (Number.isSafeInteger(trigger) && trigger >= 1) return () => trigger
  if (trigger > 0 && trigger < 1) return (limit) => Math.ceil(trigger * limit)
  throw new SketchError(
    'SLUICE_BAD_OPTION',
    `sketchInflight: trigger: expected a share above 0 and below 1, or a whole number from 1, received ${described(trigger)}`,
  )
}
