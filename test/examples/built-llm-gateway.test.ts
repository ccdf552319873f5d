import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterEach, beforeEach, expect, test } from '@jest/globals'
import { postgresLedger } from '@sluice/counters/postgres'
import type { InsightSnapshot } from '@sluice/insight'
import { createLimiter } from '@sluice/limiter-core'
import { createQuotas, type QuotaBalance, quota } from '@sluice/quotas'
import { numberOfRuns } from '@sluice/testkit'
import { prices } from '../../examples/llm-gateway/src/meter.ts'
import { Upstream } from '../../examples/llm-gateway/src/upstream.ts'
import { ask } from '../insight/page/page-request.ts'
import { root } from '../repository.ts'
import { eventually } from '../services/eventually.ts'
import { memoryFolder } from '../services/memory-folder.ts'
import { copyEmbeddedTemplate } from '../services/postgres/embedded-template.ts'
import { postgresForTests } from '../services/postgres/postgres-for-tests.ts'
import { ExampleProcess } from './example-process.ts'
import { Customer } from './llm-customer.ts'

const BUDGET = '1.00'
const ENOUGH = {
  REQUESTS_PER_MINUTE: '10000',
  TOKENS_PER_MINUTE: '1000000',
  BUDGET,
  MAX_HOLD_MS: '4000',
  INFLIGHT: '200',
}

const postgres = postgresForTests()
let upstream: Upstream
let server: Server
let gateway: ExampleProcess | undefined

beforeEach(async () => {
  upstream = new Upstream()
  server = createServer(upstream.app)
  await once(server.listen(0, '127.0.0.1'), 'listening')
})
afterEach(async () => {
  await gateway?.kill()
  server.closeAllConnections()
  server.close()
  await postgres.server.pool().query('drop schema if exists sluice cascade')
})

async function started(env: Readonly<Record<string, string>>): Promise<string> {
  const UPSTREAM_URL = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`
  gateway = new ExampleProcess('llm-gateway', { DATABASE_URL: postgres.server.url, UPSTREAM_URL, ...env })
  return gateway.url()
}

/** Returns the price of the tokens that the upstream has delivered in `calls`. */
function priceOf(calls: Upstream['calls']): number {
  return calls.reduce((sum, { model, prompt, completion }) => {
    return sum + prices.costOf(model, { input: prompt, output: completion })
  }, 0)
}

async function databaseTime(): Promise<number> {
  const { rows } = await postgres.server.pool().query('select extract(epoch from clock_timestamp()) * 1000 as now')
  return Number(rows[0].now)
}

/** Reads the money of a customer from the database, as it is at `now`. */
async function balanceAt(now: number): Promise<QuotaBalance> {
  const quotas = createQuotas(postgresLedger(postgres.server.pool()), { serverTime: () => now })
  const limiter = createLimiter({
    policies: [quota({ name: 'budget', limit: prices.amount(BUDGET), per: 'month', maxHoldMs: '4s', backend: quotas })],
  })
  try {
    return await quotas.balance('ada')
  } finally {
    limiter.close()
    await quotas.close()
  }
}

const deliveredTo = (user: string): Upstream['calls'] => upstream.calls.filter((call) => call.user === user)

/** Sends answered, streamed and cancelled calls, many at a time. */
async function useIt(customer: Customer): Promise<void> {
  const calls = Array.from({ length: 15 }, async (_, index) => {
    const words = 30 + 7 * index
    const prompt = `question ${index}: answer in ${words} words`
    if (index % 3 === 0) expect((await customer.ask(prompt)).usage?.completion_tokens).toBe(words)
    else if (index % 3 === 1) expect(await customer.read(prompt)).toBe(words)
    else expect(await customer.read(`${prompt}, wait after ${index}`, index)).toBe(index)
  })
  await Promise.all(calls)
}

async function billedToTheToken(env: Readonly<Record<string, string>> = {}): Promise<void> {
  let url = await started({ ...ENOUGH, ...env })
  const names = ['ada', 'bob']
  let customers = [new Customer(url, 'sk-ada'), new Customer(url, 'sk-bob', 'stub-large')]
  await Promise.all(customers.map(useIt))
  const bills = names.map((name) => priceOf(deliveredTo(name)))
  expect(bills[0]).toBeGreaterThan(3_000)
  const areBilled = async (): Promise<boolean> =>
    (await Promise.all(customers.map((customer) => customer.spent()))).every((spent, index) => spent === bills[index])
  await eventually(areBilled, { what: `bills of ${bills}` })

  // running calls hold more than the bill when the process is killed
  const known = upstream.calls.length
  const running = customers.flatMap((customer) =>
    Array.from({ length: 3 }, () => customer.read('answer in 900 words, wait after 200').catch(() => 'killed')),
  )
  await eventually(async () => upstream.calls.slice(known).filter((call) => call.completion === 200).length === 6, {
    what: 'six running calls',
  })
  for (const [index, customer] of customers.entries()) {
    // each of the calls holds what it has used, and more
    const used = 3 * prices.costOf(['stub-small', 'stub-large'][index], { input: 7, output: 200 })
    const holdsAll = async (): Promise<boolean> => (await customer.spent()) >= bills[index] + used
    await eventually(holdsAll, { what: `reservations of ${used}` })
  }
  await gateway?.kill()
  expect(await Promise.all(running)).toEqual(Array(6).fill('killed'))

  url = await started({ ...ENOUGH, ...env })
  customers = [new Customer(url, 'sk-ada'), new Customer(url, 'sk-bob', 'stub-large')]
  // 4 s and an eighth of it after the last renewal
  await eventually(areBilled, { what: `bills of ${bills} without reservations` })
  // and no warning
  expect(gateway?.output.trim().split('\n')).toEqual([
    expect.stringMatching(/^The gateway/),
    expect.stringMatching(/^Live/),
  ])
  await customers[0].read('answer in 20 words')
  const next = priceOf(deliveredTo('ada').slice(-1))
  await eventually(async () => (await customers[0].spent()) === bills[0] + next, { what: 'a bill after the restart' })
  expect(await gateway?.end()).toBe(0)
}

const inFolder = async (): Promise<void> => {
  const folder = memoryFolder('sluice-example-')
  try {
    copyEmbeddedTemplate(folder)
    await billedToTheToken({ DATABASE_URL: '', FOLDER: folder })
  } finally {
    await gateway?.kill()
    rmSync(folder, { recursive: true, force: true })
  }
}
const stores = [['a folder', inFolder] as const, ['PostgreSQL', billedToTheToken] as const]

// the tests below use PostgreSQL
test.each(stores.slice(0, numberOfRuns(stores.length)))(
  'bills every token that was delivered, also of cancelled calls, and a kill leaves no reservation in %s',
  (_, billed) => billed(),
)

test('a call that runs when the gateway is killed holds money until its hold is over, and costs nothing', async () => {
  const ada = new Customer(await started(ENOUGH), 'sk-ada')
  const running = ada.read('answer in 900 words, wait after 150').catch(() => 'killed')
  await eventually(async () => (await ada.spent()) > 600, { what: 'a reservation' })
  await gateway?.kill()
  expect(await running).toBe('killed')
  const killedAt = await databaseTime()
  expect(await balanceAt(killedAt)).toMatchObject({ used: 0, held: expect.any(Number) })
  expect((await balanceAt(killedAt)).held).toBeGreaterThan(600)
  // MAX_HOLD_MS and an eighth of it
  expect(await balanceAt(killedAt + 4_500)).toMatchObject({ used: 0, held: 0 })
})

test('a call that runs when the gateway ends is billed', async () => {
  const ada = new Customer(await started(ENOUGH), 'sk-ada')
  const running = ada.read('answer in 900 words, wait after 150').catch(() => 'ended')
  await eventually(async () => upstream.calls[0]?.completion === 150, { what: 'a running call' })
  expect(await gateway?.end()).toBe(0)
  expect(await running).toBe('ended')
  expect(await balanceAt(await databaseTime())).toMatchObject({ used: priceOf(upstream.calls), held: 0 })
})

test('a stream ends with an error when the money is used up, and the next call is denied', async () => {
  const url = await started({ ...ENOUGH, BUDGET: '0.0015' })
  const ada = new Customer(url, 'sk-ada')
  let received = 0
  const failure = await ada
    .read('answer in 2000 words', Number.POSITIVE_INFINITY, () => received++)
    .catch((error: unknown) => error)
  expect(failure).toMatchObject({ code: 'budget_exhausted' })
  // the last word may cost more than what is left, and the upstream may be some words ahead of the gateway
  const isSettled = async (): Promise<boolean> => {
    const spent = await ada.spent()
    const least = Math.min(prices.amount('0.0015'), prices.costOf('stub-small', { input: 4, output: received }))
    return spent >= least && spent <= priceOf(deliveredTo('ada'))
  }
  await eventually(isSettled, { what: 'the bill' })
  const denied = await ada.ask('answer in 2 words, with a long reservation').catch((error: unknown) => error)
  expect(denied).toMatchObject({ status: 429, code: 'insufficient_quota' })
  expect(await new Customer(url, 'sk-bob').read('answer in 2 words')).toBe(2)
})

/** Returns how many calls wait for a place, as the live page shows it. */
async function waiting(url: string): Promise<number | undefined> {
  const { text } = await ask(Number(new URL(url).port), '/limits/stream')
  const { caps } = JSON.parse(text.split('data: ')[1]) as InsightSnapshot
  return caps[0]?.waiting
}

test('limits requests, knows its customers, reports like OpenAI, and admits interactive calls before batch jobs', async () => {
  const url = await started({ REQUESTS_PER_MINUTE: '12', INFLIGHT: '2' })
  const stranger = await new Customer(url, 'sk-eve').ask('hello').catch((error: unknown) => error)
  expect(stranger).toMatchObject({ status: 401 })
  const ada = new Customer(url, 'sk-ada')
  const asked = ada.client.chat.completions.create({ model: 'stub-small', messages: [{ role: 'user', content: 'Hi' }] })
  const { response } = await asked.withResponse()
  expect(response.headers.get('x-ratelimit-remaining-requests')).toBe('11')
  expect(response.headers.get('x-ratelimit-limit-tokens')).toBe('20000')

  // two calls that hang have all places until their clients leave
  const leaving = [new AbortController(), new AbortController()]
  const hanging = leaving.map(({ signal }) =>
    ada.call('batch', 'answer in 9 words, wait after 1', signal).catch(() => {}),
  )
  await eventually(async () => upstream.calls.length === 3, { what: 'two running calls' })
  const order: string[] = []
  const queued = ['batch', 'interactive'].map(async (priority) => {
    await ada.call(priority, 'answer in 9 words')
    order.push(priority)
  })
  await eventually(async () => (await waiting(url)) === 2, { what: 'two waiting calls' })
  leaving[0].abort()
  await Promise.all(queued)
  expect(order).toEqual(['interactive', 'batch'])
  leaving[1].abort()
  await Promise.all(hanging)
  for (let call = 0; call < 7; call++) await ada.ask('answer in 1 words')
  expect(await ada.ask('answer in 1 words').catch((error: unknown) => error)).toMatchObject({
    status: 429,
    code: 'rate_limit_exceeded',
  })
  const page = await fetch(`${url}/limits/`)
  expect([page.status, page.headers.get('content-type')]).toEqual([200, expect.stringContaining('text/html')])
})

test('the code in its README runs', async () => {
  const url = await started({})
  const readme = readFileSync(join(root, 'examples/llm-gateway/README.md'), 'utf8')
  const blocks = [...readme.matchAll(/^```(ts|sh client)\n([\s\S]*?)\n```$/gm)]
  expect(blocks.map(([, language]) => language)).toEqual(['ts', 'sh client'])
  // below the repository, where its packages are found
  const folder = join(root, '.artifacts')
  mkdirSync(folder, { recursive: true })
  for (const [, language, block] of blocks) {
    const code = block.replaceAll('http://localhost:3000', url)
    const file = join(folder, `llm-gateway.${language === 'ts' ? 'mjs' : 'sh'}`)
    writeFileSync(file, code)
    const command = language === 'ts' ? process.execPath : 'sh'
    const { stdout, stderr } = await promisify(execFile)(command, [file], { cwd: root, timeout: 60_000 })
    expect([stdout.length > 0, language === 'ts' ? stderr : '']).toEqual([true, ''])
  }
})
