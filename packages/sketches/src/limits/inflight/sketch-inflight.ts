import { type Clock, clockOf, type InflightBackend, type Observer, Observers } from '@sluice/limiter-core/backend'
import { MAX_COLUMNS, MAX_ROWS } from '../../key-rows.ts'
import { checkOptions, described, SketchError, wholeOption } from '../../sketch-error.ts'
import { type SeedOption, seedOf } from '../../sketch-seed.ts'
import { SketchInflightTable } from './sketch-inflight-table.ts'

export interface SketchInflightOptions extends SeedOption {
  /** Default: 4, at most 32. */
  readonly rows?: number | undefined
  /** Cells of a row; default: 8,192, at most 2²⁴. 4 bytes each. Take more than 8 for each place in flight at once. */
  readonly slots?: number | undefined
  /**
   * Number of places from which a key is counted exactly: a fraction of the limit, between 0 and 1 exclusive, or an
   * integer. Default: never.
   */
  readonly trigger?: number | undefined
  readonly clock?: Clock | undefined
  /**
   * Receive `event('saturated', { backend, cap, limit, share })` while at least one key in a hundred (`share`) finds
   * half of its limit taken by other keys. Checked after a denial, at most once per second and cap.
   */
  readonly observers?: readonly Observer[] | undefined
}

const OPTIONS = ['rows', 'slots', 'seed', 'trigger', 'clock', 'observers'] as const
const ROWS = 4
const SLOTS = 8192

/**
 * Counts the permits of this process in a fixed number of cells, whatever the number of keys. Use it as the `backend`
 * of any number of caps, which are distinguished by name and have their own limits. `docs/sketch-inflight.md`
 * explains the error.
 *
 * No key ever holds more places than the limit. A key whose cells are all shared with other keys in flight may be
 * denied early, by as many places as they hold in its emptiest cell. With `trigger`, this error stays what it was
 * when the key reached the trigger, and places above it do not affect others.
 *
 * Synchronous. Throws coded errors for invalid options.
 */
export function sketchInflight(options: SketchInflightOptions = {}): InflightBackend {
  checkOptions('sketchInflight', options, OPTIONS)
  return new SketchInflightTable({
    rows: wholeOption('sketchInflight: rows', options.rows ?? ROWS, 1, MAX_ROWS),
    slots: wholeOption('sketchInflight: slots', options.slots ?? SLOTS, 1, MAX_COLUMNS),
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
    `sketchInflight: trigger: expected a fraction between 0 and 1, or an integer from 1, received ${described(trigger)}`,
  )
}
