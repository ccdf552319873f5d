import { afterEach, expect, test } from '@jest/globals'
import { createInflightLimiter, type InflightBackend, type InflightLimiter } from '@sluice/limiter-core'
import { type RedisInflightOptions, redisInflight } from '@sluice/redis'
import { FakeClock } from '@sluice/testkit'
import { Redis } from '@upstash/redis'
import { forTests } from '../../services/for-tests.ts'
import { redisForTests } from '../../services/redis/redis-for-tests.ts'
import { RestServer, TOKEN } from '../../services/redis/rest-server.ts'
import { ownPrefix } from '../exact/own-prefix.ts'
import { eventually } from '../inflight/fleet.ts'
import { asInWorkers } from './as-in-workers.ts'

const redis = redisForTests()
const rest = forTests(
  () => RestServer.start(redis.server.port),
  (one) => one.stop(),
)

afterEach(() => {
  rest.current.faults.length = 0
})

/** An isolate of a Worker. */
function isolate(options: RedisInflightOptions): InflightBackend {
  const client = new Redis({ url: rest.current.url, token: TOKEN })
  return asInWorkers(() => redisInflight(client, { maxHoldMs: '1m', deadlineMs: '3s', ...options }))
}

function capOn(backend: InflightBackend, limit = 3): InflightLimiter {
  return createInflightLimiter({ limit, backend })
}

test('isolates that ask at the same time admit exactly the limit', async () => {
  const prefix = ownPrefix()
  const caps = Array.from({ length: 4 }, () => capOn(isolate({ prefix }), 10))
  const asked = caps.flatMap((cap) => Array.from({ length: 25 }, () => cap.acquire('a')))
  const permits = (await Promise.all(asked)).filter((permit) => permit !== undefined)
  expect([permits.length, await caps[0].count('a')]).toEqual([10, 10])
  for (const permit of permits) permit.release()
  await eventually(async () => caps[1].count('a'), 0)
})

test('a place of an isolate that was ended becomes free after maxHoldMs by the clock of the server', async () => {
  const clock = new FakeClock()
  const options = { prefix: ownPrefix(), clock, serverTime: () => clock.now() }
  // the isolate of the first permit is ended, so that it never releases it
  const ended = new FakeClock()
  const gone = capOn(isolate({ ...options, clock: ended }), 1)
  const cap = capOn(isolate(options), 1)
  expect(await gone.acquire('a')).toBeDefined()
  clock.advance(59_999)
  expect(await cap.acquire('a')).toBeUndefined()
  clock.advance(2)
  expect(await cap.acquire('a')).toBeDefined()
})

test('denied requests store nothing', async () => {
  const prefix = ownPrefix()
  const cap = capOn(isolate({ prefix }), 1)
  await cap.acquire('a')
  for (let asked = 0; asked < 20; asked++) expect(await cap.acquire('a')).toBeUndefined()
  const [name] = await redis.server.client().keys(`${prefix}*`)
  expect(await redis.server.client().hlen(name)).toBe(1)
})

test('an isolate counts alone while no gateway answers, and gives back what Redis may have counted', async () => {
  const prefix = ownPrefix()
  const cap = capOn(isolate({ prefix }))
  const first = await cap.acquire('a')
  // Redis executes the call, and its answer is lost
  rest.current.faults.push(async (res, run) => {
    const end = res.end
    res.end = (() => res.destroy()) as never
    await run()
    res.end = end
  })
  const second = await cap.acquire('a')
  expect([first, second]).toEqual([expect.anything(), expect.anything()])
  await eventually(() => capOn(isolate({ prefix })).count('a'), 1)
  second?.release()
  first?.release()
  await eventually(() => capOn(isolate({ prefix })).count('a'), 0)
})

test('an isolate that counts alone admits no more than the limit', async () => {
  const cap = capOn(isolate({ prefix: ownPrefix() }))
  await cap.acquire('warm')
  rest.current.faults.push(...Array(20).fill((res: { destroy(): void }) => res.destroy()))
  const permits = []
  for (let asked = 0; asked < 5; asked++) permits.push(await cap.acquire('a'))
  expect(permits.filter((permit) => permit)).toHaveLength(3)
})

test('a permit that is held too long is revoked no later than its lease ends', async () => {
  const clock = new FakeClock()
  const cap = capOn(isolate({ prefix: ownPrefix(), clock, serverTime: () => clock.now() }))
  const permit = await cap.acquire('a')
  clock.advance(59_999)
  expect(permit?.lost.aborted).toBe(false)
  clock.advance(1)
  expect(permit?.lost.aborted).toBe(true)
})

test('a place whose timer was dropped with its request becomes free, even while no gateway answers', async () => {
  const clock = new FakeClock()
  const dropped = { now: () => clock.now(), wall: () => clock.wall(), after: () => () => {} }
  const cap = capOn(isolate({ prefix: ownPrefix(), clock: dropped, serverTime: () => clock.now() }), 1)
  await (await cap.acquire('warm'))?.release()
  rest.current.faults.push(...Array(20).fill((res: { destroy(): void }) => res.destroy()))
  const permit = await cap.acquire('a')
  clock.advance(59_999)
  expect(await cap.acquire('a')).toBeUndefined()
  clock.advance(1)
  expect([await cap.count('a'), permit?.lost.aborted]).toEqual([0, true])
  expect(await cap.acquire('a')).toBeDefined()
})

test('without maxHoldMs it is refused at start-up', () => {
  expect(() => isolate({ maxHoldMs: undefined })).toThrow(
    'redisInflight: maxHoldMs: expected a duration on Cloudflare Workers, where nothing renews a lease',
  )
})
