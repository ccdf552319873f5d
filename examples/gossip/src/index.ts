// Five processes that share a limit and a sketch, without a server: node examples/gossip/dist/index.js
//
// Together they receive four times the limit. After some seconds each prints its view of the fleet.

import { type ChildProcess, fork } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'

const PROCESSES = 5
const LIMIT = 100
const REQUESTS = (4 * LIMIT) / PROCESSES
/** Time after which a fleet of five has exchanged all data, unless the machine is busy. */
const MEET_MS = 1_500
/** How often the processes are asked until all know the same. */
const MOST_ASKS = 10

/** Values known to a process, by name. */
type Report = Readonly<Record<string, number>>

const replicas = Array.from({ length: PROCESSES }, () =>
  fork(fileURLToPath(new URL('replica.js', import.meta.url)), { env: { ...process.env, ...settings() } }),
)
const addresses = (await Promise.all(replicas.map(answerOf))) as string[]
for (const replica of replicas) replica.send({ meet: addresses })
await new Promise((resolve) => setTimeout(resolve, MEET_MS))

console.log(`${PROCESSES} processes, no Redis, one limit of ${LIMIT} a minute: ${PROCESSES * REQUESTS} requests.\n`)
await askAll({ requests: REQUESTS })
const reports = await agreed()
for (const [index, report] of reports.entries()) {
  const known = Object.entries(report).map(([name, value]) => `${name} ${value}`)
  console.log(`process ${index + 1}   ${known.join('   ')}`)
}
const admitted = reports.reduce((sum, report) => sum + report['admitted here'], 0)
console.log(
  `\nadmitted by all: ${admitted} of ${PROCESSES * REQUESTS}, over the limit: ${(admitted / LIMIT).toFixed(2)}`,
)
for (const replica of replicas) replica.disconnect()

/** Asks all processes until they report the same values of the fleet. */
async function agreed(): Promise<readonly Report[]> {
  let reports: readonly Report[] = []
  for (let asks = 0; asks < MOST_ASKS && !isSame(reports); asks++) {
    await new Promise((resolve) => setTimeout(resolve, MEET_MS))
    reports = (await askAll({ report: true })) as Report[]
  }
  return reports
}

function isSame(reports: readonly Report[]): boolean {
  const fleet = reports.map(({ 'admitted here': _own, ...others }) => JSON.stringify(others))
  return new Set(fleet).size === 1
}

function settings(): Readonly<Record<string, string>> {
  process.env.FLEET_SECRET ??= randomBytes(24).toString('base64url')
  return { FLEET_SECRET: process.env.FLEET_SECRET, LIMIT: String(LIMIT) }
}

function askAll(message: object): Promise<readonly unknown[]> {
  return Promise.all(
    replicas.map((replica) => {
      replica.send(message)
      return answerOf(replica)
    }),
  )
}

/** Rejects if the process exits instead. */
async function answerOf(replica: ChildProcess): Promise<unknown> {
  const gone = new AbortController()
  const ended = once(replica, 'exit', { signal: gone.signal }).then(([code]) => {
    throw new Error(`a process ended with ${code}`)
  })
  try {
    const [answer] = (await Promise.race([once(replica, 'message'), ended])) as unknown[]
    return answer
  } finally {
    ended.catch(() => {})
    gone.abort()
  }
}
