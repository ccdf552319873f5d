import { median } from '../run/median.mjs'
import { seededRandom, shuffled } from '../run/random.mjs'
import { chooseRedisContenders } from './redis-contenders.mjs'
import { redisYardstick } from './redis-floors.mjs'
import { measurePairs, pairTable } from './redis-pairs.mjs'
import { startRedis } from './redis-server.mjs'
import { openRedisSites } from './redis-site.mjs'
import { redisTargetTable } from './redis-targets.mjs'

const concurrencies = [1, 64]
// twice per second: one for each concurrency
const warmMs = 100
const turnMs = 400

/** `seconds`: duration for each contender and round, in turns of one second. */
export async function run({ smoke = false, rounds = 3, only, seconds = 5, progress = () => {} } = {}) {
  const chosen = chooseRedisContenders(only)
  const redis = await startRedis()
  try {
    const taken = smoke
      ? [await smokeOf(chosen, redis)]
      : await turnsOf(chosen, redis, { rounds, turns: Math.ceil(seconds), progress })
    const measured = measuredOf(taken)
    const tables = concurrencies.map((concurrency) => costTable(chosen, concurrency, measured, redis))
    const pairs = await measurePairs(chosen, redis, { smoke, rounds, progress })
    return [...tables, pairTable(pairs), redisTargetTable(chosen, measured, pairs)]
  } finally {
    redis.close()
  }
}

async function smokeOf(chosen, redis) {
  const results = emptyTurn()
  const { sites, close } = await openRedisSites(chosen, redis, 1)
  for (const site of sites) {
    for (const concurrency of concurrencies) {
      results[concurrency][site.name] = await site.measure({ concurrency, amount: 2 * concurrency })
    }
  }
  close()
  return results
}

/** All contenders run in fresh parallel processes and take turns, in a different order each time. */
async function turnsOf(chosen, redis, { rounds, turns, progress }) {
  const random = seededRandom(64)
  const taken = []
  for (let round = 0; round < rounds; round++) {
    progress(`redis, round ${round + 1}`)
    await redis.empty()
    const opened = []
    for (const contender of chosen) opened.push(await openRedisSites([contender], redis, 1 + round))
    const sites = opened.flatMap((one) => one.sites)
    for (const site of sites) await site.warmUp({ concurrency: 64, ms: turnMs })
    for (let turn = 0; turn < turns; turn++) taken.push(await turnOf(shuffled(sites, random)))
    for (const one of opened) one.close()
  }
  return taken
}

async function turnOf(sites) {
  const results = emptyTurn()
  for (const concurrency of concurrencies) {
    for (const site of sites) {
      await site.warmUp({ concurrency, ms: warmMs })
      results[concurrency][site.name] = await site.measure({ concurrency, ms: turnMs })
    }
  }
  return results
}

function emptyTurn() {
  return Object.fromEntries(concurrencies.map((concurrency) => [concurrency, {}]))
}

/** Medians over all turns; ratios are computed within a turn. */
function measuredOf(taken) {
  return {
    of: (concurrency, name, figure) => median(taken.map((turn) => turn[concurrency][name][figure])),
    ratio: (concurrency, name, other, figure) =>
      median(taken.map((turn) => turn[concurrency][name][figure] / turn[concurrency][other][figure])),
  }
}

function costTable(chosen, concurrency, { of, ratio }, { version }) {
  const figures = ['p50Us', 'p99Us', 'clientUs', 'serverUs', 'sent', 'commands', 'bytesIn', 'bytesOut', 'atOncePercent']
  return {
    title: `Decisions on one Redis, ${concurrency} at a time`,
    columns: [
      'contender',
      'decisions/s',
      '× floor',
      'p50 µs',
      'p99 µs',
      'client CPU µs',
      'server CPU µs',
      'sent',
      'commands',
      'B in',
      'B out',
      'at once %',
    ],
    rows: chosen.map(({ name }) => [
      name,
      of(concurrency, name, 'perSecond'),
      ratio(concurrency, name, redisYardstick, 'perSecond'),
      ...figures.map((figure) => of(concurrency, name, figure)),
    ]),
    notes: concurrency === concurrencies[0] ? [] : notesOf(version),
  }
}

function notesOf(version) {
  return [
    `Redis ${version} on loopback, the same server for all; ioredis; each contender in a process of its own with one connection. They take turns of 0.4 s, in another order each time.`,
    '98 of 100 decisions meet one of 256 hot keys, two a key that was not seen before: that is what makes 98 % of leased decisions hits.',
    `× floor: decisions a second against "${redisYardstick}" in the same turn. All other figures are per decision: commands that the client sent, commands that the server ran (those inside of scripts too), bytes that the server read and wrote, decisions whose answer was no promise.`,
    'A synchronous result is not awaited; after 64 of them the event loop turns once.',
  ]
}
