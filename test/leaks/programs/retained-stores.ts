// Requests to each framework that each have a store in AsyncLocalStorage, on keep-alive connections. Prints how many
// stores remain after garbage collection, and which store `settle` found.
import { AsyncLocalStorage } from 'node:async_hooks'
import { once } from 'node:events'
import { Agent, createServer, request } from 'node:http'
import type { AddressInfo } from 'node:net'
import { until } from '@sluice/testkit'
import { frameworks } from '../frameworks/frameworks.ts'

const REQUESTS = 200
const CONNECTIONS = 2
const context = new AsyncLocalStorage<{ readonly id: number; readonly ballast: Buffer }>()
let stores: WeakRef<object>[] = []

async function resultOf(name: string): Promise<object> {
  stores = []
  const settled: (number | undefined)[] = []
  const { rateLimit, inflightLimit, listener } = frameworks[name]
  const settle = (): number => {
    settled.push(context.getStore()?.id)
    return 1
  }
  const cost = { reserve: 1, settle, settleOn: 'always' } as const
  const server = createServer(
    listener(
      (_req, _res, next) => {
        const store = { id: stores.length, ballast: Buffer.alloc(1_000) }
        stores.push(new WeakRef(store))
        context.run(store, next)
      },
      rateLimit({ limit: 10_000, window: '1m', cost }),
      inflightLimit({ limit: 100, maxHoldMs: '1h' }),
      (req, res) => {
        if (req.url === '/') res.end('ok')
      },
    ),
  )
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const { port } = server.address() as AddressInfo
  const agent = new Agent({ keepAlive: true, maxSockets: CONNECTIONS })
  for (let sent = 0; sent < REQUESTS; sent++) await (sent % 10 === 9 ? hangUp(port) : get(port, agent))
  await until(() => settled.length === REQUESTS)
  await until(collected).catch(() => {})
  const strangers = settled.filter((id) => id === undefined).length
  server.close()
  agent.destroy()
  return { collected: collected(), strangers, distinct: new Set(settled).size }
}

// each connection may still reference its last request
function collected(): boolean {
  global.gc?.()
  return left() <= CONNECTIONS
}

function left(): number {
  return stores.filter((store) => store.deref() !== undefined).length
}

function get(port: number, agent: Agent): Promise<void> {
  return new Promise((resolve, reject) => {
    const sent = request({ host: '127.0.0.1', port, agent }, (response) => response.resume().once('end', resolve))
    sent.once('error', reject).end()
  })
}

/** A client that disconnects from a handler that never responds, on a separate connection. */
async function hangUp(port: number): Promise<void> {
  const before = stores.length
  const sent = request({ host: '127.0.0.1', port, path: '/hang', agent: false })
  sent.once('error', () => {}).end()
  await until(() => stores.length > before)
  sent.destroy()
}

async function main(): Promise<void> {
  const results: Record<string, object> = {}
  for (const name of Object.keys(frameworks)) results[name] = await resultOf(name)
  process.stdout.write(JSON.stringify(results))
  process.exit(0)
}

main().catch((error) => {
  process.stderr.write(`${error.stack}\n`)
  process.exit(1)
})
