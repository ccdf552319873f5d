import { describe, expect, test } from '@jest/globals'
import { byHeader, byIp, DENY, EXEMPT, rateLimit } from '@sluice/express'
import { type RateCheck, RateGate, type RateLimitOptions } from '@sluice/http'
import { FakeClock } from '@sluice/testkit'
import express from 'express'
import { fastify } from 'fastify'
import { fastify as fastify4 } from 'fastify4'
import request from 'supertest'
import { limited, limits, opened } from '../../adapters/fastify/fastify-injected.ts'
import { viewOf } from '../../keys/request-view.ts'
import { UpgradeSite } from '../../sockets/upgrade-site.ts'

const partner = byHeader('x-api-key', { missing: 'exempt' })

describe('an attacker omits the header whose absence exempts', () => {
  test('from one policy of a list: the limit by address still applies', async () => {
    const app = express()
    const policies = [
      { name: 'address', limit: 2, window: '1m', key: byIp() },
      { name: 'partner', limit: 9, window: '1m', key: partner },
    ] as const
    app.use(rateLimit({ policies }))
    app.get('/', (_req, res) => {
      res.send('ok')
    })
    const statuses: number[] = []
    for (let asked = 0; asked < 30; asked++) statuses.push((await request(app).get('/')).status)
    expect(statuses.filter((status) => status === 200)).toHaveLength(2)
  })

  describe.each([
    ['5', fastify],
    ['4', fastify4 as unknown as typeof fastify],
  ])('from a limit on a route of Fastify %s', (_version, make) => {
    const app = opened(make)

    test.each([
      ['key', { key: partner as never }],
      ['skip', { skip: (req: { headers: object }) => !('x-api-key' in req.headers) }],
    ])('by its %s: the limit of the application still applies', async (_by, by) => {
      const made = await limited(app(), { rateLimit: { limit: 2, window: '1m' } })
      const own = { rateLimit: { name: 'partner', limit: 9, window: '1m', ...by } } as const
      made.get('/', limits(own), async () => 'ok')
      let passed = 0
      for (let asked = 0; asked < 30; asked++) if ((await made.inject({ url: '/' })).statusCode === 200) passed++
      expect(passed).toBe(2)
    })
  })
})

test('an upgrade whose key exempts it from one policy, or from one cap, is still subject to the others', async () => {
  const clock = new FakeClock()
  const address = { name: 'address', limit: 2, window: '1m' } as const
  const rates = { policies: [address, { ...address, name: 'partner', key: partner as never }], clock }
  const site = await UpgradeSite.of({ rateLimit: rates })
  await site.open()
  await site.open()
  expect(await site.answer()).toMatch(/^HTTP\/1.1 429 .*"violated-policies":\["address"\]/s)
  await site.close()
  const capped = await UpgradeSite.of({
    inflightLimit: [
      { name: 'partner', limit: 9, key: partner as never },
      { name: 'all', limit: 1 },
    ],
  })
  await capped.open()
  expect(await capped.answer()).toMatch(/^HTTP\/1.1 503 .*"violated-policies":\["all"\]/s)
  await capped.close()
})

type Key = string | typeof EXEMPT | typeof DENY

interface Said {
  readonly name: string
  readonly key: Key
  readonly mode?: 'shadow'
}

/** Decision for a list of policies with their own keys, synchronous or asynchronous. */
async function answer(said: readonly Said[], later: boolean) {
  const window = { limit: 5, window: '1m', algorithm: 'fixed-window' } as const
  const policies = said.map(({ key, ...one }) => ({ ...window, ...one, key: later ? async () => key : () => key }))
  const clock = new FakeClock()
  const guard = new RateGate({ policies, clock } as RateLimitOptions as never)
  const check = (await guard.check(viewOf())) as RateCheck<unknown, unknown> | undefined
  const left = await Promise.all(
    said.map(async ({ name }) => [name, (await guard.limiter().peek('me')).verdicts.find(named(name))?.remaining]),
  )
  guard.close()
  return { check, left: Object.fromEntries(left) as Record<string, number> }
}

function named(name: string): (verdict: { readonly policy: { readonly name: string } }) => boolean {
  return ({ policy }) => policy.name === name
}

describe.each([
  ['at once', false],
  ['later', true],
])('keys of a list that return their results %s', (_when, later) => {
  test('exempt from their own policies, and from no others', async () => {
    const { check, left } = await answer(
      [
        { name: 'a', key: EXEMPT },
        { name: 'b', key: 'me' },
        { name: 'c', key: EXEMPT },
      ],
      later,
    )
    expect(check?.decision.verdicts.map(({ policy }) => policy.name)).toEqual(['b'])
    expect(check?.entries[0].policyItems).toBe('"b";q=5;w=60')
    expect(check?.entries[0].rateItems).toContain('"b";r=4')
    expect(left).toEqual({ a: 5, b: 4, c: 5 })
  })

  test('exempt from all policies if all of them exempt, and nothing is counted', async () => {
    const { check, left } = await answer(
      [
        { name: 'a', key: EXEMPT },
        { name: 'b', key: EXEMPT },
      ],
      later,
    )
    expect(check).toBeUndefined()
    expect(left).toEqual({ a: 5, b: 5 })
  })

  test.each([
    ['before', [DENY, EXEMPT, 'me']],
    ['between', [EXEMPT, DENY, 'me']],
    ['behind', ['me', EXEMPT, DENY]],
  ])('deny if one returns DENY %s others, and nothing is counted', async (_where, keys) => {
    const said = keys.map((key, index) => ({ name: 'abc'[index], key: key as Key }))
    const { check, left } = await answer(said, later)
    const denying = said.filter(({ key }) => key === DENY).map(({ name }) => name)
    expect(check?.denial?.status).toBe(429)
    expect(check?.denial?.retryAfterSeconds).toBeUndefined()
    expect(JSON.parse(check?.denial?.body ?? '')['violated-policies']).toEqual(denying)
    expect(check?.decision.counted).toBe(false)
    expect(left).toEqual({ a: 5, b: 5, c: 5 })
  })

  test('do not deny if a policy in shadow mode returns DENY; this is shown, and enforced policies are counted', async () => {
    const { check, left } = await answer(
      [
        { name: 'planned', key: DENY, mode: 'shadow' },
        { name: 'today', key: 'me' },
        { name: 'beside', key: 'me', mode: 'shadow' },
      ],
      later,
    )
    expect(check?.denial).toBeUndefined()
    expect(check?.decision.verdicts.map(({ policy, shadow, allowed }) => [policy.name, shadow, allowed])).toEqual([
      ['planned', true, false],
      ['today', false, true],
    ])
    // because in enforce mode the request would have been counted by none of them
    expect(left).toEqual({ planned: 5, today: 4, beside: 5 })
  })
})
