// Handlers that throw or reject, alone and behind our limiters. Prints the outcome of each: a status, or the process
// event that reported the error.
import { once } from 'node:events'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type Backend, memoryBackend } from '@sluice/node-http'
import { until } from '@sluice/testkit'
import { frontBackend } from '../../contracts/front-backend.ts'
import type { Framework, Handler, Step } from '../frameworks/framework.ts'
import { frameworks } from '../frameworks/frameworks.ts'
import { GET, RawClient } from '../raw-client.ts'

const heard: string[] = []
process.on('uncaughtException', () => heard.push('uncaughtException'))
process.on('unhandledRejection', () => heard.push('unhandledRejection'))

const plain = frameworks['node:http']
// a server calls its only listener without a `next`
const bare: Framework = {
  ...plain,
  listener: (...steps) => (steps.length === 1 ? (steps[0] as unknown as RequestListener) : plain.listener(...steps)),
}

const failing: Readonly<Record<string, Handler>> = {
  throws: () => {
    throw new Error('a fault of the application')
  },
  rejects: async () => {
    throw new Error('a fault of the application')
  },
}

function later(): Backend {
  return frontBackend('later', memoryBackend(), async (ask) => ask())
}

const behind: Readonly<Record<string, (framework: Framework, handler: Handler) => Step[]>> = {
  nothing: (_framework, handler) => [handler],
  'a limiter': ({ rateLimit }, handler) => [rateLimit({ limit: 9, window: '1m' }), handler],
  'a limiter that answers later': ({ rateLimit }, handler) => [
    rateLimit({ limit: 9, window: '1m', backend: later() }),
    handler,
  ],
  'a cap': ({ inflightLimit }, handler) => [inflightLimit({ limit: 9 }), handler],
  'a limiter around it': ({ rateLimit }, handler) => [rateLimit({ limit: 9, window: '1m' }).wrap(handler)],
  'a limiter around it that answers later': ({ rateLimit }, handler) => [
    rateLimit({ limit: 9, window: '1m', backend: later() }).wrap(handler),
  ],
  'a cap around it': ({ inflightLimit }, handler) => [inflightLimit({ limit: 9 }).wrap(handler)],
  'a cap around it that answers later': ({ inflightLimit }, handler) => [
    inflightLimit({ limit: 9, key: async () => 'all' }).wrap(handler),
  ],
}

async function outcome(framework: Framework, steps: Step[]): Promise<string> {
  heard.length = 0
  const server = createServer(framework.listener(...steps))
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const client = await RawClient.to((server.address() as AddressInfo).port)
  client.send(GET)
  await until(() => heard.length > 0 || client.heard.includes('\r\n')).catch(() => heard.push('nothing'))
  // no further event may follow
  await new Promise(setImmediate)
  client.leave()
  server.close()
  await once(server, 'close')
  return [...heard, client.heard.slice(9, 12)].filter(Boolean).join()
}

async function main(): Promise<void> {
  const keep = setInterval(() => {}, 1_000)
  const outcomes: Record<string, Record<string, string>> = {}
  for (const [name, framework] of Object.entries({ 'a bare server': bare, ...frameworks })) {
    for (const [how, handler] of Object.entries(failing)) {
      const row: Record<string, string> = {}
      for (const [what, steps] of Object.entries(behind))
        row[what] = await outcome(framework, steps(framework, handler))
      outcomes[`${name}, a handler that ${how}`] = row
    }
  }
  clearInterval(keep)
  process.stdout.write(JSON.stringify(outcomes))
}

main().catch((error) => {
  process.stderr.write(`${error.stack}\n`)
  process.exit(1)
})
