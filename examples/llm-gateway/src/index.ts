// A gateway to language models with limits in requests, tokens and money: npm start
//
// Counts are stored in the folder .llm-gateway; DATABASE_URL stores them in PostgreSQL, for any number of processes.
// UPSTREAM_URL: an API like OpenAI's; by default a stub in this process. PORT: default 3000.
import { once } from 'node:events'
import type { RequestListener, Server } from 'node:http'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createGateway } from './gateway.ts'
import { openStore } from './store.ts'
import { Upstream } from './upstream.ts'

const { env } = process
const servers: Server[] = []
const upstream = env.UPSTREAM_URL ?? `${await listen(new Upstream().app, 0)}/v1`
const store = await openStore(env)
const settings = {
  requestsPerMinute: Number(env.REQUESTS_PER_MINUTE ?? 60),
  tokensPerMinute: Number(env.TOKENS_PER_MINUTE ?? 20_000),
  budget: env.BUDGET ?? '25.00',
  timeZone: env.TIME_ZONE,
  inflight: Number(env.INFLIGHT ?? 50),
  maxHoldMs: Number(env.MAX_HOLD_MS ?? 60_000),
}
const gateway = createGateway(upstream, settings, store)
const url = await listen(gateway.app, Number(env.PORT ?? 3000))
console.log(`The gateway to ${upstream}, with counts in ${store.where}, is listening on ${url}`)
console.log(`Live page: ${url}/limits/ (Ctrl-C ends it)`)

for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, end)

async function listen(app: RequestListener, port: number): Promise<string> {
  const server = createServer(app)
  servers.push(server)
  await once(server.listen(port, '127.0.0.1'), 'listening')
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

async function end(): Promise<void> {
  for (const server of servers) {
    server.close()
    server.closeAllConnections()
  }
  await gateway.close()
  await store.close()
}
