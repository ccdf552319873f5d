// What the cells of a table are made of. `figures` hands out what was measured: `speed(contender, load, method)` the
// slices of all rounds, `held(contender)`, `errors(contender)`.
import { median } from './median.mjs'

export const heldColumns = ['bytes held', 'garbage B a call']

/** min / median of each load, less what the loop and the making of the key cost. */
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

/** How many times the floor's time: within each round, of the medians. */
export function timesFloor(figures, contender, floor, load) {
  const [own, least, idle] = [contender, floor, figures.noop].map((one) => figures.speed(one, load).map(median))
  // a smoke run may find no difference at all
  const over = (ns, round) => Math.max(0.1, ns - idle[round])
  return median(own.map((ns, round) => over(ns, round) / over(least[round], round)))
}

export function heldCells(figures, contender) {
  const { bytes, garbage } = figures.held(contender)
  return [Math.max(0, Math.round(bytes)).toLocaleString('en-US'), garbage.toFixed(1)]
}
