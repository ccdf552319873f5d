import { median } from '../run/median.mjs'
import { bareOn, clientContenders, clientNames, limitOn } from './client-contenders.mjs'
import { startRedis } from './redis-server.mjs'
import { openRedisSites } from './redis-site.mjs'

const concurrencies = [1, 64]
const warmMs = 100
const turnMs = 400

/** `seconds`: duration for each client, round and concurrency, in turns of 0.4 s for each side. */
export async function run({ smoke = false, rounds = 3, only = '', seconds = 5, progress = () => {} } = {}) {
  const clients = clientNames.filter((name) => name.includes(only))
  const redis = await startRedis()
  try {
    const turns = smoke ? 1 : Math.ceil(seconds / (2 * (turnMs / 1_000)))
    const measured = {}
    for (const client of clients) {
      measured[client] = []
      for (let round = 0; round < (smoke ? 1 : rounds); round++) {
        progress(`clients: ${client}, round ${round + 1}`)
        measured[client].push(...(await turnsOf(client, redis, { smoke, turns, seed: 1 + round })))
      }
    }
    return concurrencies.map((concurrency) => tableOf(concurrency, measured, redis))
  } finally {
    redis.close()
  }
}

/** The bare script and the limit of one client take turns, each in a process of its own except in a smoke run. */
async function turnsOf(client, redis, { smoke, turns, seed }) {
  await redis.empty()
  const names = [bareOn(client), limitOn(client)]
  const contenders = names.map((name) => clientContenders.find((contender) => contender.name === name))
  const opened = []
  for (const together of smoke ? [contenders] : contenders.map((contender) => [contender])) {
    opened.push(await openRedisSites(together, redis, seed))
  }
  const [bare, limit] = opened.flatMap(({ sites }) => sites)
  const taken = []
  for (let turn = 0; turn < turns; turn++) {
    for (const concurrency of concurrencies) {
      const results = new Map()
      for (const site of turn % 2 === 0 ? [bare, limit] : [limit, bare]) {
        const extent = smoke ? { concurrency, amount: 2 * concurrency } : { concurrency, ms: turnMs }
        await site.warmUp(smoke ? extent : { concurrency, ms: warmMs })
        results.set(site, await site.measure(extent))
      }
      taken.push({ concurrency, bare: results.get(bare), limit: results.get(limit) })
    }
  }
  for (const one of opened) one.close()
  return taken
}

function tableOf(concurrency, measured, { version }) {
  return {
    title: `Clients of Redis, ${concurrency} at a time`,
    columns: [
      'client',
      'bare script/s',
      'decisions/s',
      '× its bare script',
      'client CPU µs',
      'server CPU µs',
      'p99 µs',
    ],
    rows: Object.entries(measured).map(([client, taken]) => {
      const those = taken.filter((one) => one.concurrency === concurrency)
      return [
        client,
        median(those.map(({ bare }) => bare.perSecond)),
        median(those.map(({ limit }) => limit.perSecond)),
        median(those.map(({ bare, limit }) => limit.perSecond / bare.perSecond)),
        ...['clientUs', 'serverUs', 'p99Us'].map((figure) => median(those.map(({ limit }) => limit[figure]))),
      ]
    }),
    notes:
      concurrency === 1
        ? []
        : [
            `Redis ${version} on loopback; the limit is a sliding window, exact, with the load of the bench of Redis. The bare script is \`INCR\` and \`PTTL\`, sent by the same client; both take turns of 0.4 s, each in a process of its own. CPU and p99 are those of a decision.`,
          ],
  }
}
