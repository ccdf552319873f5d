import { fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { modeOf } from './mode.ts'
import { RedisProcess } from './redis-process.ts'
import { Tally } from './tally.ts'

const PROCESSES = 4
const WINDOW_MS = 10_000
const LIMIT = 500
/** Four times the limit. */
const REQUESTS_A_SECOND = (4 * LIMIT * 1_000) / WINDOW_MS
/** Seconds of traffic, and the seconds at which Redis is killed and restarted empty. */
const SECONDS = Number(process.env.SECONDS || 36)
const KILLED_AT = Math.round(SECONDS / 3)
const BACK_AT = Math.round((2 * SECONDS) / 3)

const { mode, promised } = modeOf(process.argv.slice(2))
const redis = await RedisProcess.start().catch((error: NodeJS.ErrnoException) => {
  const missing = error.code === 'ENOENT'
  console.error(missing ? 'redis-server is not on the PATH: install it, or set REDIS_SERVER' : error.message)
  process.exit(1)
})
const workers = Array.from({ length: PROCESSES }, () =>
  fork(fileURLToPath(new URL('worker.js', import.meta.url)), [
    mode,
    `redis://127.0.0.1:${redis.port}`,
    ...[PROCESSES, LIMIT, WINDOW_MS].map(String),
  ]),
)
let isOver = false
for (const worker of workers) worker.once('exit', (code, signal) => void lost(signal ?? code))
const urls = await Promise.all(
  workers.map(async (worker) => {
    const [port] = await once(worker, 'message')
    return `http://127.0.0.1:${port}`
  }),
)

console.log(`${PROCESSES} processes, one limit (${mode}): ${LIMIT} in ${WINDOW_MS / 1_000} s.`)
console.log(`Traffic: ${REQUESTS_A_SECOND} a second, four times the limit.\n`)
const tally = new Tally(LIMIT, WINDOW_MS)
const startedAt = performance.now()
const traffic = setInterval(() => tally.due(performance.now() - startedAt, REQUESTS_A_SECOND, ask), 10)

for (let second = 1; second <= SECONDS; second++) {
  await new Promise((resolve) => setTimeout(resolve, startedAt + second * 1_000 - performance.now()))
  console.log(tally.row(second, redis.alive))
  if (second === KILLED_AT) await redis.kill()
  if (second === BACK_AT) {
    const from = performance.now()
    await redis.start()
    tally.restarted(from, performance.now())
  }
}

clearInterval(traffic)
isOver = true
console.log(`\n${tally.verdict(promised)}`)
for (const worker of workers) worker.disconnect()
await redis.kill()
process.exitCode = tally.kept(promised) ? 0 : 1

/** Handles the unexpected exit of a process of the fleet. */
async function lost(how: number | string | null): Promise<void> {
  if (isOver) return
  isOver = true
  console.error(`a process of the fleet ended with ${how}`)
  await redis.kill()
  process.exit(1)
}

async function ask(request: number): Promise<void> {
  const sentAt = performance.now()
  const response = await fetch(urls[request % PROCESSES], { headers: { 'x-team': 'blue' } })
  const { source } = (await response.json()) as { source: string }
  tally.answered(response.status, source, sentAt, performance.now())
}
