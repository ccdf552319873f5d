import { once } from 'node:events'
import { createServer, type RequestListener, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, beforeEach, expect, test } from '@jest/globals'
import { MemoryLedger } from '@sluice/counters'
import { memoryBackend } from '@sluice/limiter-core'
import { createQuotas, type Quotas } from '@sluice/quotas'
import { FakeClock } from '@sluice/testkit'
import OpenAI from 'openai'
import { createGateway } from '../../examples/llm-gateway/src/gateway.ts'
import { prices } from '../../examples/llm-gateway/src/meter.ts'
import { Upstream } from '../../examples/llm-gateway/src/upstream.ts'
import { eventually } from '../services/eventually.ts'

const settings = {
  requestsPerMinute: 1_000,
  tokensPerMinute: 1_000_000,
  budget: '0.003',
  timeZone: 'Europe/Berlin',
  inflight: 10,
  maxHoldMs: 60_000,
}

let clock: FakeClock
let quotas: Quotas
let gateway: ReturnType<typeof createGateway>
let upstream: Upstream
let servers: Server[]
let client: OpenAI

beforeEach(async () => {
  // ten seconds before February in Berlin
  clock = new FakeClock({ wallMs: Date.UTC(2026, 0, 31, 22, 59, 50) })
  quotas = createQuotas(new MemoryLedger(clock), { clock, serverTime: () => clock.wall() })
  upstream = new Upstream()
  servers = []
  gateway = createGateway(`${await listen(upstream.app)}/v1`, settings, { backend: memoryBackend(), quotas })
  client = new OpenAI({ baseURL: `${await listen(gateway.app)}/v1`, apiKey: 'sk-ada', maxRetries: 0 })
})
afterEach(async () => {
  for (const server of servers) {
    server.closeAllConnections()
    server.close()
  }
  await gateway.close()
  await quotas.close()
})

async function listen(app: RequestListener): Promise<string> {
  const server = createServer(app)
  servers.push(server)
  await once(server.listen(0, '127.0.0.1'), 'listening')
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

/** Returns the price of the last call, from the tokens that the upstream has delivered. */
function lastPrice(): number {
  const { model, prompt = 0, completion = 0 } = upstream.calls.at(-1) ?? { model: 'stub-small' }
  return prices.costOf(model, { input: prompt, output: completion })
}

function stream(prompt: string) {
  const messages = [{ role: 'user', content: prompt }] as const
  return client.chat.completions.create({ model: 'stub-small', messages: [...messages], stream: true })
}

/** Returns what is spent of the current month when nothing is held. */
async function settled(): Promise<number> {
  await eventually(async () => (await quotas.balance('ada')).held === 0, { what: 'settlements' })
  return (await quotas.balance('ada')).used
}

test('a month whose money is used up ends at midnight of the time zone, and its bill stays', async () => {
  let words = 0
  const endless = async (): Promise<void> => {
    for await (const _ of await stream('answer in 5000 words')) words++
  }
  await expect(endless()).rejects.toMatchObject({ code: 'budget_exhausted' })
  const january = await settled()
  // the stub may have sent more than the gateway has read
  expect(january).toBe(prices.costOf('stub-small', { input: 4, output: words }))

  const denied = await stream('answer in 5 words').catch((error: unknown) => error)
  expect(denied).toMatchObject({ status: 429, code: 'insufficient_quota' })
  expect((denied as InstanceType<typeof OpenAI.APIError>).headers?.get('retry-after')).toBe('10')

  clock.advance(10_000)
  for await (const _ of await stream('answer in 5 words'));
  const february = await settled()
  expect(february).toBe(lastPrice())
  const range = { from: clock.wall() - 86_400_000, to: clock.wall() + 86_400_000, by: 'month' } as const
  expect((await quotas.usage('ada', range)).map(({ used }) => used)).toEqual([january, february])
})

test('a stream over the end of a month stays held, and all of it is billed in the month in which it ends', async () => {
  const chunks = (await stream('answer in 200 words, wait after 120'))[Symbol.asyncIterator]()
  for (let word = 0; word < 120; word++) await chunks.next()
  const { held } = await quotas.balance('ada')
  expect(held).toBeGreaterThan(lastPrice())

  clock.advance(20_000)
  const { budget } = (await client.get('/usage')) as { budget: { limit: number; remaining: number } }
  expect(budget).toEqual({ limit: 3_000, remaining: 3_000 - held })
  // the client leaves
  await chunks.return?.()
  const february = await settled()
  expect(february).toBe(lastPrice())
  const range = { from: clock.wall() - 86_400_000, to: clock.wall() + 86_400_000, by: 'month' } as const
  expect((await quotas.usage('ada', range)).map(({ used }) => used)).toEqual([february])
})
