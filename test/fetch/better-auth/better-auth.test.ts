import { afterEach, describe, expect, test } from '@jest/globals'
import { forTests } from '../../services/for-tests.ts'
import { type ChildNode, startNode } from '../../services/processes/child-node.ts'
import { redisForTests } from '../../services/redis/redis-for-tests.ts'
import type { Counting } from './children/auth-server.ts'

type AuthServer = typeof import('./children/auth-server.ts')

const PROXY = '192.0.2.1'
const redis = redisForTests()
const server = forTests(
  () => started(),
  (one) => one.stop(),
)

/** better-auth consists of ES modules, so it runs in a process of its own. */
function started(): ChildNode<AuthServer> {
  return startNode<AuthServer>('fetch/better-auth/children/auth-server.ts')
}

function opened(counting: Counting): Promise<void> {
  return server.current.call('open', counting)
}

afterEach(() => redis.server.restart())

describe.each(['rules', 'limiter', 'wrap'] as const)(
  '1,000 sign-ins at once with a limit of 3, counted by %s',
  (by) => {
    test.each(['memory', 'redis'] as const)('check 3 passwords in %s', async (kind) => {
      await opened({ by, ...(kind === 'redis' && { redis: redis.server.port }) })
      const { statuses, checked } = await server.current.call('send', 1_000)
      expect({ statuses, checked }).toEqual({ statuses: { 401: 3, 429: 997 }, checked: 3 })
    })
  },
)

test('four processes with one Redis check 3 passwords together', async () => {
  const others = Array.from({ length: 3 }, started)
  const fleet = [server.current, ...others]
  await Promise.all(fleet.map((one) => one.call('open', { by: 'rules', redis: redis.server.port })))
  const seen = await Promise.all(fleet.map((one) => one.call('send', 250)))
  await Promise.all(others.map((one) => one.stop()))
  expect(seen.reduce((sum, { checked }) => sum + checked, 0)).toBe(3)
})

test('the database storage of better-auth admits more in an adapter without unique keys', async () => {
  await opened({ by: 'own' })
  const { checked } = await server.current.call('send', 1_000)
  expect(checked).toBeGreaterThan(3)
})

describe('a denial', () => {
  test('by the storage has the body and the header of better-auth', async () => {
    await opened({ by: 'rules' })
    const { headers } = await server.current.call('send', 4)
    expect(Number(headers['x-retry-after'])).toBeGreaterThan(50)
    expect(Number(headers['x-retry-after'])).toBeLessThanOrEqual(60)
  })

  test('by a limit around the handler has the header fields of Sluice', async () => {
    await opened({ by: 'wrap' })
    const { headers } = await server.current.call('send', 4)
    expect(headers).toMatchObject({
      'content-type': 'application/problem+json',
      'ratelimit-policy': '"sign-in";q=3;w=60',
      'retry-after': expect.stringMatching(/^(5\d|60)$/),
    })
  })
})

describe('requests', () => {
  test.each(['{', '{}', '[]', 'null', '"text"', JSON.stringify({ email: 1, password: {} })])(
    'with the body %s count as sign-ins, and better-auth rejects them',
    async (body) => {
      await opened({ by: 'rules' })
      const { statuses } = await server.current.call('send', 100, { body })
      const { 429: denied, ...others } = statuses
      expect(denied).toBe(97)
      expect(Object.values(others)).toEqual([3])
      expect(await server.current.call('send', 1)).toMatchObject({ statuses: { 429: 1 }, checked: 0 })
    },
  )

  test('with the right password are counted, too', async () => {
    await opened({ by: 'rules' })
    const body = JSON.stringify({ email: 'anna@shop.example', password: 'open sesame' })
    expect(await server.current.call('send', 10, { body })).toMatchObject({ statuses: { 200: 3, 429: 7 }, checked: 3 })
  })

  test('of other addresses have counts of their own', async () => {
    await opened({ by: 'rules' })
    await server.current.call('send', 10)
    const headers = { 'x-forwarded-for': '203.0.113.8' }
    expect((await server.current.call('send', 10, { headers })).statuses).toEqual({ 401: 3, 429: 7 })
  })
})

describe('the rules of better-auth', () => {
  test('for paths have counts of their own, and a path without a rule is not counted', async () => {
    const customRules = { '/sign-in/*': { window: 60, max: 2 }, '/sign-up/*': { window: 3_600, max: 1 }, '/ok': false }
    await opened({ by: 'rules', redis: redis.server.port, customRules } as Counting)
    expect((await server.current.call('send', 10)).statuses).toEqual({ 401: 2, 429: 8 })
    expect((await server.current.call('send', 10, { path: '/sign-up/email', body: '{}' })).statuses).toEqual({
      400: 1,
      429: 9,
    })
    expect((await server.current.call('send', 300, { path: '/ok' })).statuses).toEqual({ 200: 300 })
  })

  test('that are built in apply to paths without a rule of the application', async () => {
    await opened({ by: 'rules', customRules: {} })
    expect((await server.current.call('send', 10)).statuses).toEqual({ 401: 3, 429: 7 })
    expect((await server.current.call('send', 150, { path: '/ok' })).statuses).toEqual({ 200: 100, 429: 50 })
  })
})

describe('behind a proxy, addresses that the client invents', () => {
  test.each(['rules', 'wrap'] as const)('change nothing if it is trusted, with the limit by %s', async (by) => {
    await opened({ by, trustedProxies: [PROXY] })
    const headers = { 'x-forwarded-for': '203.0.113.7' }
    expect(await server.current.call('send', 500, { headers, inventsAddresses: true })).toMatchObject({ checked: 3 })
    const others = { 'x-forwarded-for': '203.0.113.8' }
    expect(await server.current.call('send', 500, { headers: others, inventsAddresses: true })).toMatchObject({
      checked: 3,
    })
  })

  test('share one count of better-auth if it trusts no proxy', async () => {
    await opened({ by: 'rules' })
    expect(await server.current.call('send', 500, { inventsAddresses: true })).toMatchObject({ checked: 3 })
  })
})

test('sign-ins are decided by the failure rule while Redis does not answer', async () => {
  await opened({ by: 'rules', redis: redis.server.port, deadlineMs: 50 })
  await redis.server.kill()
  expect(await server.current.call('send', 100)).toMatchObject({ statuses: { 401: 3, 429: 97 }, checked: 3 })
})
