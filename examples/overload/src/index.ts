// A shop whose database becomes slow, and ten times the usual load: npm start
import { fork } from 'node:child_process'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { board } from './board.ts'
import { Database } from './database.ts'
import type { PhaseReport } from './outcomes.ts'
import { CONNECTIONS, phases } from './phases.ts'
import { createShop } from './shop.ts'

const { values: options } = parseArgs({
  options: {
    unprotected: { type: 'boolean', default: false },
    /** Seconds of each phase. */
    seconds: { type: 'string', default: '20' },
    once: { type: 'boolean', default: false },
  },
})

const database = new Database(CONNECTIONS, phases[0].queryMs)
const { app, insight, close } = createShop(database, !options.unprotected)
const server = app.listen(Number(process.env.PORT || 3000), '127.0.0.1')
await once(server, 'listening')
const url = `http://localhost:${(server.address() as AddressInfo).port}`
const load = fork(fileURLToPath(new URL('load.js', import.meta.url)), [url])
load.once('exit', end)
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => load.disconnect())

console.log(`The shop, ${options.unprotected ? 'without' : 'with'} protection, is listening on ${url}`)
console.log(`Live page: ${url}/limits/#/caps/shop (Ctrl-C ends it)\n`)
do {
  for (const phase of phases) {
    database.queryMs = phase.queryMs
    load.send({ perSecond: phase.perSecond })
    await pause(Number(options.seconds) * 1_000)
    const atEnd = insight.snapshot()
    load.send({ perSecond: 0 })
    const [report] = (await once(load, 'message')) as [PhaseReport]
    console.log(`${board(phase, report, atEnd)}\n`)
  }
} while (!options.once)
load.disconnect()

async function end(): Promise<void> {
  await close()
  server.close()
  server.closeAllConnections()
  process.exit()
}
