import { createServer } from 'node:http'
import { afterEach, beforeEach, expect, jest, test } from '@jest/globals'
import { rateLimit } from '@sluice/express'
import { memoryBackend, type Observer } from '@sluice/limiter-core'
import { type PolicyOptions, policies } from '@sluice/policies'
import { FakeClock } from '@sluice/testkit'
import express, { type Express, type Request, type Response } from 'express'
import request from 'supertest'
import { TextSource } from './text-source.ts'

const clock = new FakeClock()
const warnings: string[] = []

beforeEach(() => {
  warnings.splice(0)
  jest.spyOn(process, 'emitWarning').mockImplementation((warning) => void warnings.push(String(warning)))
})
afterEach(() => {
  jest.restoreAllMocks()
})

function documentOf(...policies: readonly object[]): string {
  return JSON.stringify({ version: 1, policies })
}

interface Served {
  readonly app: Express
  readonly source: TextSource
  readonly options: PolicyOptions<Request, Response>
  readonly events: object[]
  /** Replaces the document, and waits until it applies or is refused. */
  readonly change: (text: string) => Promise<void>
}

function served(text: string): Served {
  const source = new TextSource(text)
  const options = policies<Request, Response>(source, {
    attributes: {
      principal: (req) => req.get('x-user'),
      plan: async (req) => req.get('x-plan'),
      db_ms: (_req, res) => Number(res?.getHeader('x-db-ms')),
    },
  })
  const events: object[] = []
  const observer: Observer = { event: (name, data) => void (name === 'policies' && events.push(data)) }
  const app = express()
  app.use(rateLimit({ ...options, backend: memoryBackend({ clock }), clock, observers: [observer] }))
  app.get('/search', (req, res) => {
    if (req.get('x-db-ms')) res.set('x-db-ms', req.get('x-db-ms'))
    res.send('found')
  })
  const change = async (next: string): Promise<void> => {
    source.text = next
    await options.policies.reload()
  }
  return { app, source, options, events, change }
}

function limits(response: { headers: Record<string, string> }): string {
  return response.headers.ratelimit
}

test('a request is counted by the policies that apply to it', async () => {
  const { app } = served(
    documentOf(
      { name: 'all', limit: 10, per: '1m' },
      { name: 'users', key: 'principal', match: { method: 'GET' }, limit: { free: 3, pro: 5 }, per: '1m' },
    ),
  )
  const get = (plan: string) => request(app).get('/search').set('x-user', 'u').set('x-plan', plan)
  expect(limits(await get('pro'))).toBe('"all";r=9;t=60, "users";r=4;t=60')
  expect(limits(await get('free'))).toBe('"all";r=8;t=60, "users";r=1;t=60')
  expect(limits(await request(app).post('/search'))).toBe('"all";r=7;t=60')
  await get('free')
  expect((await get('free')).status).toBe(429)
  expect((await get('pro')).status).toBe(200)
})

test('a reload keeps counts, adds policies and removes policies', async () => {
  const { app, change, events } = served(documentOf({ name: 'a', limit: 5, per: '1m' }))
  for (let times = 0; times < 5; times++) expect((await request(app).get('/search')).status).toBe(200)
  expect((await request(app).get('/search')).status).toBe(429)
  await change(documentOf({ name: 'a', limit: 7, per: '1m' }, { name: 'b', limit: 100, per: '1h' }))
  expect(limits(await request(app).get('/search'))).toBe('"a";r=1;t=60, "b";r=99;t=3600')
  await change(documentOf({ name: 'a', limit: 7, per: '10m' }, { name: 'b', limit: 100, per: '1h' }))
  expect((await request(app).get('/search')).status).toBe(200)
  expect((await request(app).get('/search')).status).toBe(429)
  await change(documentOf({ name: 'b', limit: 100, per: '1h' }))
  expect(limits(await request(app).get('/search'))).toBe('"b";r=97;t=3600')
  expect(events).toEqual(Array(3).fill({ source: 'policies.yaml' }))
  expect(warnings).toEqual([])
})

test('the mode of a policy changes without a restart, and its counts stay', async () => {
  const mode = (mode: string): string => documentOf({ name: 'a', limit: 2, per: '1m', mode })
  const { app, change } = served(mode('shadow'))
  for (let times = 0; times < 4; times++) expect((await request(app).get('/search')).status).toBe(200)
  await change(mode('enforce'))
  expect((await request(app).get('/search')).status).toBe(429)
  await change(mode('off'))
  const free = await request(app).get('/search')
  expect([free.status, limits(free)]).toEqual([200, undefined])
  await change(mode('enforce'))
  expect((await request(app).get('/search')).status).toBe(429)
})

test('an invalid document is refused as a whole, with a warning and an event', async () => {
  const { app, change, events } = served(documentOf({ name: 'a', limit: 2, per: '1m' }))
  await change(documentOf({ name: 'a', limit: 100, per: '1m' }, { name: 'b', limit: 0, per: '1m' }))
  expect(limits(await request(app).get('/search'))).toBe('"a";r=1;t=60')
  expect(warnings).toEqual([
    expect.stringContaining('the policies of policies.yaml were not replaced: policies.yaml:1:'),
  ])
  expect(warnings[0]).toContain('policies[1].limit')
  expect(events).toEqual([
    { source: 'policies.yaml', refused: expect.objectContaining({ code: 'SLUICE_BAD_POLICY_FILE' }) },
  ])
})

test('a document that one of the limiters cannot have is refused for all of them', async () => {
  const source = new TextSource(documentOf({ name: 'a', limit: 2, per: '1m' }))
  const { policies: loaded } = policies<Request, Response>(source)
  const any = rateLimit({ policies: loaded, backend: memoryBackend({ clock }), clock, scope: 'any' })
  const fixed = Object.assign(memoryBackend({ clock }), { algorithms: ['sliding-log'] as const })
  const logs = rateLimit({ policies: loaded, backend: fixed, clock, scope: 'logs' })
  source.text = documentOf({ name: 'a', limit: 3, per: '1m' })
  await loaded.reload()
  expect([any, logs].map(({ limiter }) => limiter.policies[0].limit)).toEqual([3, 3])
  const open = fixed.open.bind(fixed)
  fixed.open = (compiled, ...rest) => {
    if (compiled.policy.algorithm !== 'sliding-log') throw new Error('only logs')
    return open(compiled, ...rest)
  }
  source.text = documentOf({ name: 'a', limit: 4, per: '1m', algorithm: 'gcra' })
  await loaded.reload()
  expect([any, logs].map(({ limiter }) => limiter.policies[0].limit)).toEqual([3, 3])
  any.close()
  logs.close()
})

test('a cost that is reserved and settled is settled across a reload', async () => {
  const db = (per: string): string =>
    documentOf({ name: 'db', limit: 1_000, per, unit: 'ms', cost: { reserve: 20, settle: 'db_ms' } })
  const { app, change } = served(db('1m'))
  let release = (): void => {}
  const waiting = new Promise<void>((resolve) => {
    release = resolve
  })
  app.get('/slow', async (_req, res) => {
    await waiting
    res.set('x-db-ms', '300').send('done')
  })
  const server = createServer(app).listen(0)
  try {
    await request(server).get('/search').set('x-db-ms', '50')
    const slow = request(server)
      .get('/slow')
      .then((response) => response)
    while (!limits(await request(server).get('/search').set('x-db-ms', '20')).includes('r='));
    await change(db('1h'))
    const before = await request(server).get('/search').set('x-db-ms', '20')
    release()
    await slow
    const after = await request(server).get('/search').set('x-db-ms', '20')
    const left = (response: { headers: Record<string, string> }): number =>
      Number(/r=(\d+)/.exec(limits(response))?.[1])
    expect(left(before) - left(after)).toBe(20 + 280)
  } finally {
    server.close()
  }
})

test('watched documents apply without a call', async () => {
  const source = new TextSource(documentOf({ name: 'a', limit: 2, per: '1m' }))
  const options = policies<Request, Response>(source, { watch: true })
  const limiter = rateLimit({ ...options, clock })
  source.text = documentOf({ name: 'a', limit: 3, per: '1m' })
  await options.policies.reload()
  expect(limiter.limiter.policies[0].limit).toBe(3)
  options.policies.close()
  limiter.close()
})

test('an attribute that throws counts the request as one without the attribute', async () => {
  const { app } = served(documentOf({ name: 'a', key: 'principal', limit: 2, per: '1m' }))
  const failing = policies<Request, Response>(
    new TextSource(documentOf({ name: 'a', key: 'user', limit: 2, per: '1m' })),
    {
      attributes: {
        user: () => {
          throw new Error('no session')
        },
      },
    },
  )
  const other = express().use(rateLimit({ ...failing, clock }), (_req, res) => void res.send('ok'))
  expect(limits(await request(other).get('/'))).toBe('"a";r=1;t=60')
  expect(limits(await request(other).get('/'))).toBe('"a";r=0;t=60')
  expect(warnings.join()).toContain("attribute 'user' failed")
  expect(limits(await request(app).get('/search'))).toBe('"a";r=1;t=60')
})

test('lists deny and exempt clients by address, range and key, whatever the modes of the policies are', async () => {
  const lists = { allow: ['10.0.0.0/8', 'anna'], block: ['10.0.0.9', 'ben', '2001:db8::/32'] }
  const document = {
    version: 1,
    lists,
    policies: [{ name: 'a', key: 'principal', limit: 1, per: '1m', mode: 'shadow' }],
  }
  const { app } = served(JSON.stringify(document))
  app.set('trust proxy', true)
  const get = async (ip: string, user?: string): Promise<readonly unknown[]> => {
    const sent = request(app).get('/search').set('x-forwarded-for', ip)
    const { status, body } = await (user ? sent.set('x-user', user) : sent)
    return [status, body['violated-policies']]
  }
  expect(await get('10.1.2.3')).toEqual([200, undefined])
  expect(await get('10.0.0.9')).toEqual([429, ['blocklist']])
  expect(await get('192.0.2.1', 'ben')).toEqual([429, ['blocklist']])
  expect(await get('2001:db8:1::5')).toEqual([429, ['blocklist']])
  expect(await get('192.0.2.1', 'anna')).toEqual([200, undefined])
})

test('a ban outlasts changes of its policy, and a document without bans lifts it', async () => {
  const ban = { after: 1, within: '1m', for: '10m' }
  const policy = { name: 'a', limit: 1, per: '1m', ban }
  const { app, change } = served(documentOf(policy))
  const retryAfter = async (): Promise<number> =>
    Number((await request(app).get('/search')).headers['retry-after'] ?? 0)
  await retryAfter()
  await retryAfter()
  expect(await retryAfter()).toBe(600)
  await change(documentOf({ ...policy, limit: 100 }))
  expect(await retryAfter()).toBe(600)
  await change(documentOf({ ...policy, limit: 100, per: '1h' }))
  expect(await retryAfter()).toBe(600)
  await change(documentOf({ ...policy, limit: 100, per: '1h', ban: undefined }))
  expect(await retryAfter()).toBe(0)
})

test('the attribute of a final cost is asked for once, after the response', async () => {
  const asked: boolean[] = []
  const cost = { reserve: 20, settle: 'spent' }
  const source = new TextSource(documentOf({ name: 'a', limit: 100, per: '1m', unit: 'ms', cost }))
  const { policies: loaded } = policies<Request, Response>(source, {
    attributes: {
      spent: (_req, res) => {
        asked.push(res !== undefined)
        return 30
      },
    },
  })
  const app = express().use(rateLimit({ policies: loaded, clock }), (_req, res) => void res.send('ok'))
  await request(app).get('/')
  expect(asked).toEqual([true])
})
