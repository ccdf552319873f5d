import { once } from 'node:events'
import { startChild } from '../run/child.mjs'

const redisCell = new URL('./redis-cell.mjs', import.meta.url)
// one contender has no running server
const flags = ['--disable-warning=SLUICE_BACKEND_FAILED']

/** Contenders in one process; a single contender if CPU time is measured. */
export async function openRedisSites(contenders, redis, seed) {
  const names = contenders.map(({ name }) => name)
  const child = startChild(redisCell, { names, port: redis.port, seed }, flags)
  await answerOf(child, names)
  const sites = contenders.map((contender) => siteOf(contender, child, redis))
  return { sites, close: () => child.kill() }
}

function siteOf({ name }, child, redis) {
  const run = (extent) => {
    child.send({ name, ...extent })
    return answerOf(child, [name])
  }
  return {
    name,
    warmUp: run,
    /** Client CPU, server CPU and network traffic per decision, in a closed loop of the given size. */
    async measure(extent) {
      const before = await redis.spent()
      const { decisions, tookMs, cpuUs, atOnce, p50Us, p99Us } = await run(extent)
      const after = await redis.spent()
      const each = (figure) => (after[figure] - before[figure]) / decisions
      return {
        perSecond: (decisions / tookMs) * 1_000,
        p50Us,
        p99Us,
        clientUs: cpuUs / decisions,
        serverUs: each('cpuUs'),
        cpuUs: cpuUs / decisions + each('cpuUs'),
        sent: each('sent'),
        commands: each('commands'),
        bytesIn: each('bytesIn'),
        bytesOut: each('bytesOut'),
        atOncePercent: (atOnce / decisions) * 100,
      }
    },
  }
}

async function answerOf(child, names) {
  const ended = new AbortController()
  const answered = once(child, 'message', { signal: ended.signal })
  const exited = once(child, 'exit', { signal: ended.signal }).then(([code]) => {
    throw new Error(`redis-cell.mjs ${names.join(', ')} ended with ${code}`)
  })
  try {
    const [answer] = await Promise.race([answered, exited])
    return answer
  } finally {
    exited.catch(() => {})
    ended.abort()
  }
}
