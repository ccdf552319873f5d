import { targetColumns, targetRow } from '../run/target.mjs'

/** Requests per second of a busy process. One core then has 100 µs for each request. */
const busyPerSecond = 10_000

// what the limits of a busy process may cost its users
const mostPercentOfCore = 2
/** A tenth of the time that a core has for a request, so that no decision delays the next request noticeably. */
const mostP999Us = 10
/** At 10,000 requests a second 0.6 MB/s: the young generation of 16 MB, collected in a few ms, then lasts 25 s. */
const mostGarbageBytes = 64
const mostExcessPercent = 0

/** Returns the percentage of one core that decisions of this many ns take in a busy process. */
export function percentOfCore(ns) {
  return (ns * busyPerSecond) / 1e7
}

/** `costs`: for each name `{ slowest: { ns, title }, p999Us, garbage, excessPercent }`. */
export function decisionTargetTable(chosen, costs) {
  const rows = chosen
    .filter(({ role }) => role === 'sluice')
    .flatMap(({ name }) => {
      const { slowest, p999Us, garbage, excessPercent } = costs[name]
      return [
        targetRow(`${name}: % of a core at 10,000/s, slowest load`, percentOfCore(slowest.ns), mostPercentOfCore),
        targetRow(`${name}: p99.9 µs, hot key`, p999Us, mostP999Us),
        targetRow(`${name}: garbage B, hot key`, garbage, mostGarbageBytes),
        targetRow(`${name}: above the limit %, 10k keys`, excessPercent, mostExcessPercent),
      ]
    })
  return {
    title: 'Decision targets',
    columns: targetColumns,
    rows,
    notes: [
      'Requirements of a process with 10,000 requests a second on one core: limits take at most 2 % of it (2 µs per decision); 999 of 1,000 decisions take at most a tenth of the 100 µs that it has for each request; garbage fills the young generation of 16 MB in no less than 25 s; no unit is admitted above a limit.',
    ],
  }
}
