import { once } from 'node:events'
import { runChild, startChild } from '../run/child.mjs'
import { punctuality } from './timeline.mjs'

const loadCell = new URL('./load/load-cell.mjs', import.meta.url)
/** Time between the start of both processes and the start of the load. */
const leadMs = 300
const defaultGiveUpMs = 5_000

/** Applies the load of a scenario to a new server process. Returns `{ record, samples, cpuPercent, lagMs, … }`. */
export async function runServer(cell, options, scenario, seed) {
  const server = startChild(cell, options)
  const [{ port }] = await messageOf(server)
  const { sources, durationMs, giveUpMs = defaultGiveUpMs, openConnections = 0 } = scenario
  const load = startChild(loadCell, { port, sources, durationMs, giveUpMs, seed, openConnections })
  await messageOf(load)
  const startAt = Date.now() + leadMs
  server.send({ startAt })
  load.send({ startAt })
  const [record] = await messageOf(load)
  server.send({ isOver: true })
  const [result] = await messageOf(server)
  return { record, scenario, ...result, ...punctuality(record) }
}

/** Returns the requests per second that a server can complete, from a closed loop of `callers`. */
export async function measureCapacity(cell, options, { callers, ms }) {
  const server = startChild(cell, options)
  const [{ port }] = await messageOf(server)
  server.send({ startAt: Date.now() })
  const { perSecond } = await runChild(new URL('./load/capacity-cell.mjs', import.meta.url), { port, callers, ms })
  server.send({ isOver: true })
  await messageOf(server)
  return perSecond
}

/** Resolves with the next message. A child that ends may be gone before its last message has arrived. */
async function messageOf(child) {
  const ended = new AbortController()
  const exit = once(child, 'exit', { signal: ended.signal }).then(async ([code, signal]) => {
    if (code === 0 && child.connected) await once(child, 'disconnect', { signal: ended.signal })
    throw new Error(`a process of the run ended with ${signal ?? code}`)
  })
  try {
    return await Promise.race([once(child, 'message', { signal: ended.signal }), exit])
  } finally {
    exit.catch(() => {})
    ended.abort()
  }
}
