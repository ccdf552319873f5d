// Computes the cells of a table. `figures` provides the measurements: `speed(contender, load, method)` returns the
// slices of all rounds; also `held(contender)` and `errors(contender)`.
import { median } from '../run/median.mjs'

export const heldColumns = ['bytes held', 'garbage B a call']

/** Minimum / median of each load, without the cost of the loop and of creating the key. */
export function speedCells(figures, contender, loads, method) {
  return loads.map((load) => {
    const { min, middle } = speedOf(figures, contender, load, method)
    return `${min.toFixed(1)} / ${middle.toFixed(1)}`
  })
}

export function speedOf(figures, contender, load, method) {
  const rounds = figures.speed(contender, load, method)
  const idle = contender.noop ? undefined : figures.speed(figures.noop, load)
  const less = (of, round) => (idle === undefined ? 0 : of(idle[round]))
  const min = (slices) => Math.min(...slices)
  const all = (of) => rounds.map((slices, round) => Math.max(0, of(slices) - less(of, round)))
  return { min: Math.min(...all(min)), middle: median(all(median)) }
}

/** Ratio to the time of the floor: within each round, of the medians. */
export function timesFloor(figures, contender, floor, load) {
  const [own, least, idle] = [contender, floor, figures.noop].map((one) => figures.speed(one, load).map(median))
  // a smoke run may measure no difference
  const over = (ns, round) => Math.max(0.1, ns - idle[round])
  return median(own.map((ns, round) => over(ns, round) / over(least[round], round)))
}

export function heldCells(figures, contender) {
  const { bytes, garbage } = figures.held(contender)
  return [Math.max(0, Math.round(bytes)).toLocaleString('en-US'), garbage.toFixed(1)]
}
