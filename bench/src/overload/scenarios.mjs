import { dependency } from './scenarios/dependency.mjs'
import { coldCache, pauses, streams } from './scenarios/disturbed.mjs'
import { fleet } from './scenarios/fleet.mjs'
import { spikes } from './scenarios/spikes.mjs'
import { compared, noisyNeighbour, runaways, staged } from './scenarios/workers.mjs'

/** A shorter spike has too few critical requests to tell 99 % from 98 %. */
const shortest = 0.1
const fullMs = (seconds) => seconds * 1_000

/**
 * All scenarios. `scale` shortens their times. A scenario is
 * `{ name, title, contenders, durationMs, sources, verdict, mostLanes?, openConnections?, judged?, service?, settings?, cell?, open?, notes? }`:
 *
 * - `mostLanes`: runs that may be side by side, because their work only waits for a timer; by default 1.
 * - `openConnections`: connections that the clients open before the run; by default none.
 * - `judged`: the contenders that must meet the targets; by default those of Sluice.
 * - `cell`: the file of the server process. `open()` starts what it needs and returns `{ options, notes, close }`.
 */
export function scenarios(scale) {
  const ms = (seconds) => Math.max(300, Math.round(seconds * 1_000 * scale))
  return [
    staged(ms),
    noisyNeighbour(ms),
    ...runaways(ms),
    compared(ms),
    streams(ms),
    pauses(ms),
    coldCache(ms),
    dependency(ms),
    fleet(ms),
    ...spikes(scale < shortest ? ms : fullMs),
  ]
}
