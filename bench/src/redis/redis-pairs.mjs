import { quartilesOf } from '../run/quartiles.mjs'
import { redisRoundTrip, redisYardstick } from './redis-floors.mjs'
import { openRedisSites } from './redis-site.mjs'

const pairsPerRound = 20
// about 50 ms on loopback: a disturbance of the machine then reaches both sides of a pair
const slice = { concurrency: 1, amount: 500 }

/**
 * One caller at a time: short slices of each exact limit and of the smallest script that enforces one take turns, each
 * in a process of its own except in a smoke run. Returns for each name `{ perSecond, floorPerSecond, ratio }` with the
 * quartiles over all pairs.
 */
export async function measurePairs(chosen, redis, { smoke, rounds, progress }) {
  const pairs = {}
  const floor = chosen.find(({ name }) => name === redisYardstick)
  const compared = chosen.filter(({ role, name }) => role === 'exact' || name === redisRoundTrip)
  for (const contender of compared) {
    progress(`redis, pairs: ${contender.name}`)
    const taken = []
    for (let round = 0; round < (smoke ? 1 : rounds); round++) {
      taken.push(...(await pairsOf(contender, floor, redis, round, smoke)))
    }
    pairs[contender.name] = {
      perSecond: quartilesOf(taken.map(({ own }) => own)),
      floorPerSecond: quartilesOf(taken.map(({ base }) => base)),
      ratio: quartilesOf(taken.map(({ own, base }) => own / base)),
    }
  }
  return pairs
}

async function pairsOf(contender, floor, redis, round, smoke) {
  await redis.empty()
  const opened = []
  for (const together of smoke ? [[contender, floor]] : [[contender], [floor]]) {
    opened.push(await openRedisSites(together, redis, 1 + round))
  }
  try {
    const [own, base] = opened.flatMap(({ sites }) => sites)
    const extent = smoke ? { concurrency: 1, amount: 2 } : slice
    for (const site of [own, base]) await site.warmUp({ ...extent, amount: 4 * extent.amount })
    const taken = []
    for (let pair = 0; pair < (smoke ? 1 : pairsPerRound); pair++) {
      const order = pair % 2 === 0 ? [own, base] : [base, own]
      const [first, second] = [await order[0].measure(extent), await order[1].measure(extent)]
      const [ours, floors] = pair % 2 === 0 ? [first, second] : [second, first]
      taken.push({ own: ours.perSecond, base: floors.perSecond })
    }
    return taken
  } finally {
    for (const one of opened) one.close()
  }
}

export function pairTable(pairs) {
  return {
    title: 'One caller at a time, in pairs with a bare EVALSHA',
    columns: ['contender', 'decisions/s', 'EVALSHA/s', '×, lower quartile', '× median', '×, upper quartile'],
    rows: Object.entries(pairs).map(([name, { perSecond, floorPerSecond, ratio }]) => [
      name,
      perSecond.median,
      floorPerSecond.median,
      ratio.low,
      ratio.median,
      ratio.high,
    ]),
    notes: [
      `Slices of 500 decisions and of 500 calls of the smallest script that enforces a limit ("${redisYardstick}", the same client) take turns; which is first alternates. "${redisRoundTrip}" is a script that only returns 1.`,
    ],
  }
}
