import { afterAll, beforeAll, expect, test } from '@jest/globals'
import type { LoginRequest } from '@sluice/http/login'
import { type ChildNode, startNode } from '../services/processes/child-node.ts'
import { type RedisServer, startRedis } from '../services/redis/redis-server.ts'

type Process = ChildNode<typeof import('./children/login-process.ts')>

const ada = { account: 'ada', address: '192.0.2.1' }
let server: RedisServer
let processes: readonly Process[]

beforeAll(async () => {
  server = await startRedis()
  processes = [1, 2].map(() => startNode('login/children/login-process.ts'))
  await Promise.all(processes.map((one) => one.call('open', server.url)))
})
afterAll(async () => {
  await Promise.all(processes.map((one) => one.stop()))
  await server.stop()
})

/** Guesses in all processes at the same time. Returns how many guesses were allowed. */
async function guesses(requestsOf: (process: number) => readonly LoginRequest[]): Promise<number> {
  const allowed = await Promise.all(processes.map((one, process) => one.call('guess', requestsOf(process))))
  return allowed.reduce((sum, count) => sum + count, 0)
}

test('two processes admit the guesses of one, and know the devices of each other', async () => {
  const device = await processes[0].call('logIn', ada)
  const onAda = (process: number): LoginRequest[] =>
    Array.from({ length: 200 }, (_, index) => ({ account: 'ada', address: `10.${process}.0.${index}` }))
  expect(await guesses(onAda)).toBe(5)
  expect(await processes[1].call('logIn', { ...ada, device })).toEqual(expect.any(String))
  expect(await processes[1].call('logIn', ada)).toBeUndefined()
})

test('two processes see one spray, of which each has a half', async () => {
  await server.client().flushall()
  const spray = (process: number): LoginRequest[] =>
    Array.from({ length: 500 }, (_, index) => ({
      account: `${index}`,
      address: `10.${process}.${index >> 8}.${index & 255}`,
    }))
  expect(await guesses(spray)).toBe(50)
})
