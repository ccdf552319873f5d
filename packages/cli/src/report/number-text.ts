const SIGNIFICANT = 3

/** Returns a share from 0 to 1 in percent: `2.35 %`. Shares that are not 0 are never shown as `0 %`. */
export function percent(share: number): string {
  const value = share * 100
  if (value === 0 || value === 100) return `${value} %`
  if (value < 0.01) return '< 0.01 %'
  if (value > 99.99) return '> 99.99 %'
  return `${Number(value.toPrecision(value > 99 ? SIGNIFICANT + 1 : SIGNIFICANT))} %`
}

/** Returns the part that `of` has of `all`; 0 without any. */
export function shareOf(of: number, all: number): number {
  return all === 0 ? 0 : of / all
}

/** Returns an hour in UTC: `2015-05-17 10:00`. */
export function hourText(iso: string): string {
  return `${iso.slice(0, 10)} ${iso.slice(11, 16)}`
}
