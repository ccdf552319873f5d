import { boundColumns, boundRow } from '../run/target.mjs'
import { redisYardstick } from './redis-floors.mjs'

/**
 * `of(concurrency, name, figure)`: medians; `ratio(concurrency, name, other, figure)`: medians of ratios per turn;
 * `pairs`: for each name the quartiles of its ratio to the smallest script that enforces a limit.
 */
export function redisTargetTable(chosen, { of, ratio }, pairs) {
  const named = (role) => chosen.filter((contender) => contender.role === role)
  const bestPeer = (concurrency) => {
    const peers = named('peer').map(({ name }) => name)
    return peers.sort((a, b) => of(concurrency, b, 'perSecond') - of(concurrency, a, 'perSecond'))[0]
  }
  const againstPeer = ({ name }, concurrency, figure, bounds) => {
    const peer = bestPeer(concurrency)
    if (peer === undefined) return []
    const what = figure === 'cpuUs' ? 'client + server CPU' : 'decisions/s'
    return [
      boundRow(`${name}, ${concurrency} at a time: ${what}, × ${peer}`, ratio(concurrency, name, peer, figure), bounds),
    ]
  }
  const exact = named('exact').flatMap((contender) => [
    ...againstPeer(contender, 64, 'perSecond', { atLeast: 1.3 }),
    ...againstPeer(contender, 64, 'cpuUs', { atMost: 0.6 }),
    ...againstPeer(contender, 1, 'perSecond', { atLeast: 0.95 }),
  ])
  const leased = named('leased').flatMap((contender) => [
    ...againstPeer(contender, 1, 'perSecond', { atLeast: 15 }),
    ...againstPeer(contender, 64, 'perSecond', { atLeast: 3.5 }),
  ])
  const paired = named('exact').map(({ name }) =>
    boundRow(`${name}, 1 at a time: decisions/s, × ${redisYardstick}`, pairs[name].ratio.median, { atLeast: 0.95 }),
  )
  const rows = [...exact, ...paired, ...threeRows(named, ratio), ...leased, ...openRows(named, ratio)]
  return { title: 'Redis targets', columns: boundColumns, rows, notes: [] }
}

/** Cost of three policies relative to one: in time for a single caller, and in CPU for full batches. */
function threeRows(named, ratio) {
  return named('three').flatMap(({ name, of: one }) => {
    if (!named('exact').some((contender) => contender.name === one)) return []
    const bounds = { atMost: 1.3 }
    return [
      boundRow(`${name}, 1 at a time: time of a decision, × one`, 1 / ratio(1, name, one, 'perSecond'), bounds),
      boundRow(`${name}, 64 at a time: client + server CPU, × one`, ratio(64, name, one, 'cpuUs'), bounds),
    ]
  })
}

function openRows(named, ratio) {
  const [memory] = named('memory')
  if (memory === undefined) return []
  // differences below 15 % are not significant here
  return named('open').map(({ name }) =>
    boundRow(`${name}: client CPU, × ${memory.name}`, ratio(64, name, memory.name, 'clientUs'), { atMost: 1.15 }),
  )
}
