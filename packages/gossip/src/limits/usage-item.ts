import type { Slots } from './usage-slots.ts'

/** Units that one replica took of a key. Times are process times here, and ages in ms in the log item. */
export interface Usage {
  /** Time in ms after which the units no longer count. */
  readonly keptMs: number
  /** When the replica itself last reset the key; -Infinity if it never did. */
  readonly resetAt: number
  /** Slots of each form: a key may be counted in windows of several kinds. */
  readonly forms: readonly Slots[]
}

/** Maximum number of forms; plans may have windows of several kinds. */
const MAX_FORMS = 16
/**
 * Numbers in the slots of one form: 60 slices, one that is leaving the window, and spare slots for clock differences.
 */
const MAX_NUMBERS = 3 * 64
const NEVER = Number.NEGATIVE_INFINITY

/** Returns the value of a log item written at `now`. */
export function usageValue({ keptMs, resetAt, forms }: Usage, now: number): unknown {
  const ages = (slots: Slots): number[] => slots.map((value, at) => (at % 3 === 1 ? value : ageMs(value, now)))
  return [keptMs, resetAt === NEVER ? -1 : ageMs(resetAt, now), ...forms.map(ages)]
}

/**
 * Parses the value of a log item; returns undefined for a value that no replica writes. `bornAt`: when the item was
 * written, in process time.
 */
export function usageOf(value: unknown, bornAt: number): Usage | undefined {
  if (!Array.isArray(value) || value.length < 3 || value.length > MAX_FORMS + 2) return undefined
  const [keptMs, resetAgeMs, ...forms] = value as readonly unknown[]
  if (!isCount(keptMs) || !(resetAgeMs === -1 || isCount(resetAgeMs))) return undefined
  if (!forms.every(isSlots)) return undefined
  const instants = (slots: Slots): Slots => slots.map((one, at) => (at % 3 === 1 ? one : bornAt - one))
  return { keptMs, resetAt: resetAgeMs === -1 ? NEVER : bornAt - resetAgeMs, forms: forms.map(instants) }
}

function ageMs(instant: number, now: number): number {
  return Math.max(0, Math.round(now - instant))
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0
}

function isSlots(value: unknown): value is Slots {
  return Array.isArray(value) && value.length <= MAX_NUMBERS && value.length % 3 === 0 && value.every(isCount)
}
