import { rmSync } from 'node:fs'
import { afterEach, beforeEach, expect, test } from '@jest/globals'
import { eventually } from '../services/eventually.ts'
import { memoryFolder } from '../services/memory-folder.ts'
import { copyEmbeddedTemplate } from '../services/postgres/embedded-template.ts'
import { startPostgres } from '../services/postgres/postgres-server.ts'
import { ExampleProcess } from './example-process.ts'

let api: ExampleProcess | undefined
let folder = ''

beforeEach(() => {
  folder = memoryFolder('sluice-example-')
  copyEmbeddedTemplate(folder)
})
afterEach(async () => {
  await api?.kill()
  rmSync(folder, { recursive: true, force: true })
})

class Customer {
  readonly #url: string
  readonly #key: string

  constructor(url: string, key: string) {
    this.#url = url
    this.#key = key
  }

  ask(path: string, method = 'GET'): Promise<Response> {
    return fetch(`${this.#url}${path}`, { method, headers: { 'x-api-key': this.#key } })
  }

  /** Returns how many of these calls passed; calls beyond the burst of a second wait. */
  async call(times: number): Promise<number> {
    let passed = 0
    for (let called = 0; called < times; called++) {
      const response = await this.ask('/words')
      await response.arrayBuffer()
      const { status, headers } = response
      if (status === 200) passed++
      else if (headers.get('ratelimit')?.includes('"burst"') === true) called--
    }
    return passed
  }

  async balance(): Promise<Readonly<Record<string, number>>> {
    return (await (await this.ask('/usage')).json()) as Record<string, number>
  }
}

async function started(env: Readonly<Record<string, string>>): Promise<string> {
  api = new ExampleProcess('metered-api', { FOLDER: folder, ...env })
  return api.url()
}

/** Leased units are reported as used, or charged as stranded. */
async function settled(customer: Customer): Promise<Readonly<Record<string, number>>> {
  let balance = await customer.balance()
  await eventually(
    async () => {
      balance = await customer.balance()
      return balance.onLease === 0
    },
    { what: 'a balance with nothing on lease' },
  )
  return balance
}

test('sells calls by the month, and a one-time top-up', async () => {
  const ada = new Customer(await started({}), 'key-ada')
  expect(await ada.call(230)).toBe(200)
  const denied = await ada.ask('/words')
  expect(denied.status).toBe(429)
  expect(Number(denied.headers.get('retry-after'))).toBeGreaterThan(0)
  expect(denied.headers.get('ratelimit-policy')).toContain('"monthly";q=200;qu="calls"')
  expect((await ada.ask('/top-ups/invoice-1', 'POST')).status).toBe(201)
  expect((await ada.ask('/top-ups/invoice-1', 'POST')).status).toBe(200)
  // while the database is late, the fallback does not include the top-up
  let bought = 0
  const isSpent = async (): Promise<boolean> => {
    bought += await ada.call(100 - bought)
    return bought === 100
  }
  await eventually(isSpent, { what: '100 calls that were bought' })
  expect(await ada.call(30)).toBe(0)
  expect(await settled(ada)).toMatchObject({ included: 200, toppedUp: 100, used: 300, left: 0 })
  const csv = await (await ada.ask('/usage.csv')).text()
  expect(csv.split('\r\n')[1]).toMatch(/^key-ada,.*,300,0,100$/)
  await eventually(async () => api?.output.includes('mail to key-ada: 100 %') === true, { what: 'a mail' })
  expect(await api?.end()).toBe(0)
})

test('quotas survive a killed process and a killed database', async () => {
  const postgres = await startPostgres()
  try {
    let bob = new Customer(await started({ POSTGRES_URL: postgres.url }), 'key-bob')
    expect(await bob.call(50)).toBe(50)
    await settled(bob)
    await postgres.kill()
    // calls that pass in the meantime come from the lease, or are owed
    const meanwhile = await bob.call(30)
    await postgres.start()
    const isCharged = async (): Promise<boolean> => (await settled(bob)).used === 50 + meanwhile
    await eventually(isCharged, { what: `${50 + meanwhile} units on the bill` })
    expect(await bob.call(20)).toBe(20)
    // on a slow machine the failure rule may have admitted them; owed units are printed first, as the process loses them
    const isKnown = async (): Promise<boolean> => {
      const { used, onLease } = await bob.balance()
      return used + onLease >= 70 + meanwhile
    }
    await eventually(isKnown, { what: 'calls on the bill or on lease' })
    await api?.kill()
    bob = new Customer(await started({ POSTGRES_URL: postgres.url }), 'key-bob')
    expect(await bob.call(1)).toBe(1)
    const { used, stranded, left } = await settled(bob)
    expect(used + stranded + left).toBe(50_000)
    // a killed process strands at most twice the units it spent within a lease of 10 s, here also before the kill
    expect(used + stranded).toBeGreaterThanOrEqual(71 + meanwhile)
    expect(used + stranded).toBeLessThanOrEqual(51 + meanwhile + 2 * (20 + meanwhile) + 8)
    expect(await api?.end()).toBe(0)
  } finally {
    await postgres.stop()
  }
})
