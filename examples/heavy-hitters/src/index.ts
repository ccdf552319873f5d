import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import express from 'express'
import { board } from './board.ts'
import { Crowd } from './crowd.ts'
import { TrafficWatch } from './traffic-watch.ts'

/** Seconds of traffic; 0 means forever. */
const SECONDS = Number(process.env.SECONDS || 15)
const CLIENTS = 100_000
const REQUESTS_A_SECOND = 1_000

const watch = new TrafficWatch((req) => req.get('x-client') ?? req.ip ?? 'nobody')
const app = express()
app.use(watch.middleware)
app.get('/stats', (_req, res) => void res.json(watch.report()))
// one answer in fifty is slow
app.get('/', (_req, res) => void setTimeout(() => res.send('hello'), Math.random() < 0.02 ? 80 : 0))

const server = app.listen(Number(process.env.PORT || 0), '127.0.0.1')
await once(server, 'listening')
const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
console.log(`${url}/stats, ${REQUESTS_A_SECOND} requests a second of ${CLIENTS} clients\n`)

const crowd = new Crowd(url, CLIENTS)
const startedAt = performance.now()
const traffic = setInterval(() => crowd.ask(performance.now() - startedAt, REQUESTS_A_SECOND), 10)
for (let second = 1; SECONDS === 0 || second <= SECONDS; second++) {
  await new Promise((resolve) => setTimeout(resolve, startedAt + second * 1_000 - performance.now()))
  console.log(`${board(second, watch.report())}\n`)
}
clearInterval(traffic)
await crowd.gone()
console.log(crowd.verdict(watch.report()))
server.closeAllConnections()
server.close()
