/**
 * The first whole number of ms, at least 1, after which `passes` holds; `passes` never turns false again.
 * `guess` comes from arithmetic with rounding errors, so it is only where the search starts.
 */
export function firstWholeMs(guess: number, passes: (ms: number) => boolean): number {
  let ms = Math.max(1, Math.ceil(guess))
  while (!passes(ms)) ms++
  while (ms > 1 && passes(ms - 1)) ms--
  return ms
}
