import { once } from 'node:events'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from '@jest/globals'
import { type LoginProtection, type LoginRequest, protectLogin } from '@sluice/http/login'
import { createRedis, redisBackend } from '@sluice/redis'
import { type RedisServer, startRedis } from '../services/redis/redis-server.ts'
import { solve } from './login-simulation.ts'

const PROCESSES = 2
let server: RedisServer
let logins: LoginProtection[]
const endings: (() => unknown)[] = []

beforeAll(async () => {
  server = await startRedis()
})
afterAll(() => server.stop())

/** Each process has a connection of its own. */
beforeEach(() => {
  logins = Array.from({ length: PROCESSES }, () => {
    const client = createRedis(server.url)
    const backend = redisBackend(client)
    endings.push(
      () => backend.close?.(),
      () => client.disconnect(),
    )
    return protectLogin({ secret: 'a secret of the tests', challenge: { bits: 1 }, backend, deadlineMs: '5s' })
  })
})
afterEach(async () => {
  for (const one of logins) one.close()
  for (const end of endings.splice(0)) await end()
  await server.client().flushall()
})

const on = (index: number): LoginProtection => logins[index % PROCESSES]
const outcomesOf = async (count: number, requestOf: (index: number) => LoginRequest): Promise<string[]> => {
  const attempts = await Promise.all(Array.from({ length: count }, (_, index) => on(index).attempt(requestOf(index))))
  return attempts.map(({ outcome }) => outcome)
}
const allowed = (outcomes: readonly string[]): number => outcomes.filter((outcome) => outcome === 'allow').length

test('parallel guesses in two processes count together', async () => {
  expect(allowed(await outcomesOf(200, (index) => ({ account: 'ada', address: `192.0.2.${index}` })))).toBe(5)
})

test('a spray of 2,000 addresses over two processes is challenged after 50 guesses', async () => {
  const spray = (index: number): LoginRequest => ({
    account: `${index % 500}`,
    address: `10.0.${index >> 8}.${index & 255}`,
  })
  expect(allowed(await outcomesOf(2_000, spray))).toBe(50)
})

test('a device that has logged in to one process is known to the other', async () => {
  const ada = { account: 'ada', address: '192.0.2.1' }
  const first = await on(0).attempt(ada)
  const device = first.outcome === 'allow' ? await first.succeeded() : undefined
  await outcomesOf(100, () => ada)
  expect(await on(1).attempt({ ...ada, device })).toMatchObject({ outcome: 'allow', known: true })
  const keys = await server.client().keys('*')
  expect(keys.filter((key) => key.includes(`${device}`))).toEqual([])
})

test('an answer to a challenge is accepted once, by one of the processes', async () => {
  const ada = { account: 'ada', address: '192.0.2.1' }
  await outcomesOf(6, () => ada)
  const challenged = await on(0).attempt(ada)
  if (challenged.outcome !== 'challenge' || !challenged.challenge) throw new Error(challenged.outcome)
  const proof = solve(challenged.challenge)
  expect(allowed(await outcomesOf(10, () => ({ ...ada, proof })))).toBe(1)
})

test('every key in Redis expires', async () => {
  await outcomesOf(200, (index) => ({ account: `${index % 20}`, address: `192.0.2.${index}` }))
  const client = server.client()
  const keys = await client.keys('*')
  const endless = await Promise.all(keys.map(async (key) => ((await client.pttl(key)) > 0 ? [] : [key])))
  expect([keys.length > 20, endless.flat()]).toEqual([true, []])
})

test('while Redis does not answer, each process decides alone, and knows its devices', async () => {
  const ada = { account: 'ada', address: '192.0.2.1' }
  const first = await on(0).attempt(ada)
  const device = first.outcome === 'allow' ? await first.succeeded() : undefined
  const client = createRedis(server.url)
  await once(client, 'ready')
  server.pause()
  const backend = redisBackend(client)
  endings.push(
    () => backend.close?.(),
    () => client.disconnect(),
  )
  const alone = protectLogin({ secret: 'a secret of the tests', backend, deadlineMs: 20 })
  const outcomes: string[] = []
  for (let time = 0; time < 7; time++) outcomes.push((await alone.attempt(ada)).outcome)
  expect(outcomes).toEqual([...Array(5).fill('allow'), 'challenge', 'challenge'])
  expect(await alone.attempt({ ...ada, device })).toMatchObject({ outcome: 'allow', known: true })
  alone.close()
  server.resume()
})
