import { once } from 'node:events'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals'
import { type LoginProtection, type LoginRequest, protectLogin } from '@sluice/http/login'
import type { Backend } from '@sluice/limiter-core'
import { postgresBackend } from '@sluice/postgres'
import { createRedis, redisBackend } from '@sluice/redis'
import { calledAfterEach } from '../services/for-tests.ts'
import { startPostgres } from '../services/postgres/postgres-server.ts'
import { startRedis } from '../services/redis/redis-server.ts'
import { solve } from './login-simulation.ts'

/** A server whose counts several processes share. */
interface SharedCounts {
  /** Returns a backend with a connection of its own, once it is connected. */
  open(): Promise<Backend>
  clear(): Promise<unknown>
  /** Returns everything that is stored, and the keys that never expire. */
  stored(): Promise<{ readonly texts: readonly string[]; readonly endless: readonly string[] }>
  pause(): void
  resume(): void
  stop(): Promise<unknown>
}

/** Starts each server, and collects what ends its connections. */
const servers: Readonly<Record<string, (endings: (() => unknown)[]) => Promise<SharedCounts>>> = {
  Redis: async (endings) => {
    const server = await startRedis()
    return {
      open: async () => {
        const client = createRedis(server.url)
        endings.push(() => client.disconnect())
        await once(client, 'ready')
        return redisBackend(client)
      },
      clear: () => server.client().flushall(),
      stored: async () => {
        const client = server.client()
        const texts = await client.keys('*')
        const endless = await Promise.all(texts.map(async (key) => ((await client.pttl(key)) > 0 ? [] : [key])))
        return { texts, endless: endless.flat() }
      },
      pause: () => server.pause(),
      resume: () => server.resume(),
      stop: () => server.stop(),
    }
  },
  PostgreSQL: async () => {
    const server = await startPostgres({ fsync: false })
    await postgresBackend(server.pool()).migrate()
    const sql = server.pool()
    return {
      open: async () => {
        const pool = server.pool({ max: 2 })
        await pool.query('select 1')
        return postgresBackend(pool)
      },
      clear: () => sql.query('truncate sluice.limits'),
      stored: async () => {
        const { rows } = await sql.query("select name, kept_until < 'infinity' as ends from sluice.limits")
        return {
          texts: rows.map(({ name }) => name),
          endless: rows.filter(({ ends }) => !ends).map(({ name }) => name),
        }
      },
      pause: () => server.pause(),
      resume: () => server.resume(),
      stop: () => server.stop(),
    }
  },
}

describe.each(Object.entries(servers))('with counts in %s', (_name, start) => {
  const endings = calledAfterEach()
  let server: SharedCounts
  /** Two processes with a connection each. */
  let logins: LoginProtection[]

  beforeAll(async () => {
    server = await start(endings)
  })
  afterAll(async () => {
    await server.stop()
  })
  beforeEach(async () => {
    logins = [await opened('5s'), await opened('5s')]
  })
  afterEach(async () => {
    await server.clear()
  })

  async function opened(deadlineMs: '5s' | 20): Promise<LoginProtection> {
    const backend = await server.open()
    const one = protectLogin({ secret: 'a secret of the tests', challenge: { bits: 1 }, backend, deadlineMs })
    endings.push(
      () => backend.close?.(),
      () => one.close(),
    )
    return one
  }

  const on = (index: number): LoginProtection => logins[index % logins.length]
  const outcomesOf = async (count: number, requestOf: (index: number) => LoginRequest): Promise<string[]> => {
    const attempts = await Promise.all(Array.from({ length: count }, (_, index) => on(index).attempt(requestOf(index))))
    return attempts.map(({ outcome }) => outcome)
  }
  const allowed = (outcomes: readonly string[]): number => outcomes.filter((outcome) => outcome === 'allow').length
  const ada = { account: 'ada', address: '192.0.2.1' }
  const spray = (index: number): LoginRequest => ({
    account: `${index % 500}`,
    address: `10.0.${index >> 8}.${index & 255}`,
  })
  const logIn = async (request: LoginRequest): Promise<string | undefined> => {
    const attempt = await on(0).attempt(request)
    if (attempt.outcome !== 'allow') throw new Error(attempt.outcome)
    return attempt.succeeded()
  }

  test('parallel guesses in two processes count together', async () => {
    expect(allowed(await outcomesOf(200, (index) => ({ account: 'ada', address: `192.0.2.${index}` })))).toBe(5)
  })

  test('a spray of 1,000 addresses over two processes is challenged after 50 guesses', async () => {
    expect(allowed(await outcomesOf(1_000, spray))).toBe(50)
  })

  test('a device that has logged in to one process is known to the other', async () => {
    const device = await logIn(ada)
    await outcomesOf(100, () => ada)
    expect(await on(1).attempt({ ...ada, device })).toMatchObject({ outcome: 'allow', known: true })
    const { texts } = await server.stored()
    expect(texts.filter((text) => text.includes(`${device}`))).toEqual([])
  })

  test('an account at an address from which it has logged in to one process is familiar to the other', async () => {
    await logIn(ada)
    await outcomesOf(200, spray)
    expect(await on(1).attempt({ ...ada, address: '192.0.2.2' })).toMatchObject({ outcome: 'challenge' })
    expect(allowed(await outcomesOf(20, () => ada))).toBe(5)
  })

  test('an answer to a challenge or to the task of a page is accepted once, by one of the processes', async () => {
    await outcomesOf(200, spray)
    const challenged = await on(0).attempt(ada)
    const task = await on(0).taskFor(ada.address)
    if (challenged.outcome !== 'challenge' || !challenged.challenge || !task) throw new Error(challenged.outcome)
    for (const one of [challenged.challenge, task]) {
      const proof = solve(one)
      expect(allowed(await outcomesOf(10, () => ({ ...ada, proof })))).toBe(1)
    }
  })

  test('everything that is stored expires', async () => {
    await logIn(ada)
    await outcomesOf(200, (index) => ({ account: `${index % 20}`, address: `192.0.2.${index}` }))
    const { texts, endless } = await server.stored()
    expect([texts.length > 20, endless]).toEqual([true, []])
  })

  test('while the server does not answer, each process decides alone, and knows its devices', async () => {
    const device = await logIn(ada)
    const alone = await opened(20)
    server.pause()
    const outcomes: string[] = []
    for (let time = 0; time < 7; time++) outcomes.push((await alone.attempt(ada)).outcome)
    expect(outcomes).toEqual([...Array(5).fill('allow'), 'challenge', 'challenge'])
    expect(await alone.attempt({ ...ada, device })).toMatchObject({ outcome: 'allow', known: true })
    server.resume()
  })
})
