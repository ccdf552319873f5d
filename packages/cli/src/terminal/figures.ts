const whole = new Intl.NumberFormat('en', { maximumFractionDigits: 0 })
const tenths = new Intl.NumberFormat('en', { maximumFractionDigits: 1 })

const SECOND = 1_000
const MINUTE = 60 * SECOND
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR
const WORDS = [
  [DAY, 'day'],
  [HOUR, 'hour'],
  [MINUTE, 'minute'],
  [SECOND, 'second'],
] as const

/** Formats an integer with thousands separators: `98,000`. */
export function count(value: number): string {
  return whole.format(value)
}

/** Formats a rate; with one decimal below 10. */
export function rate(perSecond: number): string {
  return (perSecond < 10 ? tenths : whole).format(perSecond)
}

/** Formats a share of 1: `1.2 %`. */
export function percent(share: number): string {
  return `${tenths.format(share * 100)} %`
}

/** Formats a duration in ms: `8 s`, `3 min`, `2 h`, `4 d`. */
export function duration(ms: number): string {
  if (ms < 2 * MINUTE) return `${(ms < 10 * SECOND ? tenths : whole).format(Math.max(0, ms) / SECOND)} s`
  if (ms < 2 * HOUR) return `${whole.format(ms / MINUTE)} min`
  return ms < 2 * DAY ? `${whole.format(ms / HOUR)} h` : `${whole.format(ms / DAY)} d`
}

/** Formats a time in ms: `4.2 ms`, `840 ms`, `9.1 s`; `–` if it is null. */
export function milliseconds(ms: number | null): string {
  if (ms === null) return '–'
  return ms < SECOND ? `${(ms < 10 ? tenths : whole).format(ms)} ms` : duration(ms)
}

/** Formats the length of a window: `1 s`, `15 min`, `1 d`. */
export function windowText(ms: number): string {
  const units = [
    [DAY, 'd'],
    [HOUR, 'h'],
    [MINUTE, 'min'],
    [SECOND, 's'],
  ] as const
  const [size, unit] = units.find(([length]) => ms % length === 0) ?? [1, 'ms']
  return `${whole.format(ms / size)} ${unit}`
}

/** Formats the length of a window in words, as behind "per": `minute`, `15 minutes`. */
export function windowWords(ms: number): string {
  const [size, unit] = WORDS.find(([length]) => ms % length === 0) ?? [1, 'millisecond']
  return ms === size ? unit : `${whole.format(ms / size)} ${unit}s`
}
