import type { Slots } from './usage-slots.ts'

/** What a replica took of a key, as its item holds it: ages in ms as of its writing. */
export interface Usage {
  /** After so long it counts nowhere. */
  readonly keptMs: number
  /** When the replica heard of the last reset of the key; before all time where there was none. */
  readonly resetAt: number
  /** Of each form in which the key is counted. */
  readonly forms: readonly Slots[]
}

/** Of plans with several kinds of windows. */
const MOST_FORMS = 16
/** Sixty slices, one that is leaving, and what clocks are apart. */
const MOST_NUMBERS = 3 * 64
const NEVER = Number.NEGATIVE_INFINITY

/** The value of an item that is written at `now`. */
export function usageValue({ keptMs, resetAt, forms }: Usage, now: number): unknown {
  const ages = (slots: Slots): number[] => slots.map((value, at) => (at % 3 === 1 ? value : ageMs(value, now)))
  return [keptMs, resetAt === NEVER ? -1 : ageMs(resetAt, now), ...forms.map(ages)]
}

/** Undefined for what no replica writes. `bornAt`: when the item was written, by the clock of this process. */
export function usageOf(value: unknown, bornAt: number): Usage | undefined {
  if (!Array.isArray(value) || value.length < 3 || value.length > MOST_FORMS + 2) return undefined
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
  return Array.isArray(value) && value.length <= MOST_NUMBERS && value.length % 3 === 0 && value.every(isCount)
}
