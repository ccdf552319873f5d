import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { createInsight, type Dashboard, dashboard, type Insight } from '@sluice/insight'
import { createLimiter, memoryBackend } from '@sluice/limiter-core'
import { FakeClock, seededRandom } from '@sluice/testkit'
import { type Listening, listening } from './open-page.ts'
import { type Answered, type Asked, ask } from './page-request.ts'

const token = 'a-token-of-enough-characters'
const bearer = { authorization: `Bearer ${token}` }
const json = { 'content-type': 'application/json', 'sluice-control': '1', ...bearer }

let served: Listening
let insight: Insight
let page: Dashboard
let closed: Dashboard
const clock = new FakeClock({ wallMs: 1_700_000_000_000 })
const policies = [{ name: 'api', limit: 2, window: '1m', algorithm: 'fixed-window' }] as const

beforeAll(async () => {
  insight = createInsight({ clock, control: { limits: { api: { min: 1, max: 9 } } } })
  page = dashboard({ insight, token, path: '/limits' })
  closed = dashboard({ insight, path: '/open' })
  served = await listening((req, res) => page(req, res, () => closed(req, res)))
})
afterAll(async () => {
  await served.stop()
  await insight.close()
})

const limiter = () =>
  createLimiter({ policies, clock, observers: [insight], backend: memoryBackend({ clock }), scope: 'actions' })

const act = (file: string, body: unknown, headers: Asked['headers'] = json): Promise<Answered> =>
  ask(served.port, `/limits/${file}`, { method: 'POST', headers, body: JSON.stringify(body) })
const get = (path: string, headers: Asked['headers'] = bearer) => ask(served.port, path, { headers })

describe('key lookups', () => {
  test('show why a key was limited', async () => {
    const asked = limiter()
    for (let n = 0; n < 3; n++) asked.take('customer@example.com')
    const { status, headers, text } = await get('/limits/explain?key=customer%40example.com&cost=2')
    expect([status, headers['content-type'], headers['cache-control']]).toEqual([
      200,
      'application/json; charset=utf-8',
      'no-store',
    ])
    expect(JSON.parse(text)).toMatchObject({
      key: 'cust…',
      cost: 2,
      summary: [expect.stringMatching(/^denied by 'api': 2 of 2 requests used, 2 requested, retry in 1 min|60 s/)],
      denials: [{ policy: 'api', times: 1 }],
    })
    clock.advance(1_000)
    const [{ topDenied }] = insight.snapshot().policies
    const byId = await get(`/limits/explain?id=${encodeURIComponent(topDenied[0].id)}`)
    expect(JSON.parse(byId.text)).toMatchObject({ key: 'cust…', cost: 1 })
    expect(byId.text).not.toContain('customer')
    asked.close()
  })

  test.each([
    ['', 400],
    ['?key=', 400],
    ['?key=a&cost=0', 400],
    ['?key=a&cost=many', 400],
    ['?id=nobody', 404],
    [`?key=${'k'.repeat(5_000)}`, 400],
    [`?key=a&token=${token}`, 400],
  ])('explain%s is rejected', async (query, status) => {
    const answer = await get(`/limits/explain${query}`)
    expect([answer.status, answer.headers['content-type']]).toEqual([status, 'application/problem+json'])
  })

  test('require a session if there is a token', async () => {
    for (const path of ['explain?key=a', 'control']) expect((await get(`/limits/${path}`, {})).status).toBe(401)
    for (const path of ['explain?key=a', 'control']) expect((await get(`/open/${path}`, {})).status).toBe(200)
    expect((await get('/open/control', { host: 'rebound.example' })).status).toBe(403)
  })
})

describe('changes', () => {
  test('a switch is applied, shown, and undone', async () => {
    const asked = limiter()
    const { status, text } = await act('control', {
      action: 'mode',
      policy: 'api',
      mode: 'off',
      by: 'ann',
      duration: '1h',
    })
    expect([status, JSON.parse(text)]).toMatchObject([200, { action: 'mode', policy: 'api', mode: 'off', by: 'ann' }])
    expect(asked.take('key').source).toBe('off')
    const shown = JSON.parse((await get('/limits/control')).text)
    expect(shown).toMatchObject({ canAct: true, controls: [{ by: 'ann' }], audit: [{ event: 'begun' }] })
    expect((await act('undo', { id: shown.controls[0].id, by: 'bob' })).status).toBe(200)
    expect((await act('undo', { id: shown.controls[0].id })).status).toBe(404)
    expect(asked.take('key').source).toBe('memory')
    asked.close()
  })

  test('a key can be blocked by its ID, without revealing the key', async () => {
    const asked = limiter()
    asked.take('customer@example.com')
    clock.advance(1_000)
    const { topAllowed } = insight.snapshot().policies[0]
    const { status, text } = await act('control', { action: 'block', id: topAllowed[0].id, duration: '10s' })
    expect([status, text]).toEqual([200, expect.not.stringContaining('customer')])
    expect(asked.take('customer@example.com').source).toBe('blocked')
    expect((await act('control', { action: 'block', id: 'nobody' })).status).toBe(404)
    clock.advance(15_000)
    asked.close()
  })

  const refused: readonly [string, unknown, number, string | undefined][] = [
    ['an unknown action', { action: 'dance' }, 400, 'SLUICE_BAD_OPTION'],
    ['an unknown policy', { action: 'mode', policy: 'no', mode: 'off' }, 400, 'SLUICE_UNKNOWN_POLICY'],
    ['a limit out of bounds', { action: 'limit', policy: 'api', limit: 10 }, 400, 'SLUICE_BAD_LIMIT'],
    ['a duration above one day', { action: 'block', key: 'a', duration: 86_401_000 }, 400, 'SLUICE_BAD_DURATION'],
    ['a list', [], 400, undefined],
    ['null', null, 400, undefined],
    ['more than 16 KiB', { action: 'block', key: 'a', reason: 'r'.repeat(20_000) }, 400, undefined],
    ['a prototype', JSON.parse('{"__proto__":{"action":"block"},"key":"a"}'), 400, 'SLUICE_BAD_OPTION'],
  ]
  test.each(refused)('%s is rejected', async (_what, body, status, code) => {
    const asked = limiter()
    const answer = await act('control', body)
    expect([answer.status, JSON.parse(answer.text).code]).toEqual([status, code])
    expect(insight.controls()).toEqual([])
    asked.close()
  })

  test.each<[string, Asked['headers'], number]>([
    ['without a session', { 'sluice-control': '1' }, 401],
    ['with a wrong token', { ...json, authorization: 'Bearer another-token-of-enough' }, 401],
    ['without the header', { 'content-type': 'application/json', ...bearer }, 403],
    ['from another site', { ...json, 'sec-fetch-site': 'cross-site' }, 403],
    ['from a page of another origin', { ...json, origin: 'http://other.example' }, 403],
  ])('%s, changes are rejected', async (_what, headers, status) => {
    const asked = limiter()
    for (const file of ['control', 'undo']) {
      expect((await act(file, { action: 'mode', policy: 'api', mode: 'off' }, headers)).status).toBe(status)
    }
    expect(insight.controls()).toEqual([])
    asked.close()
  })

  test('without a token, changes are disabled', async () => {
    const { status, text } = await ask(served.port, '/open/control', {
      method: 'POST',
      headers: { 'sluice-control': '1' },
      body: JSON.stringify({ action: 'block', key: 'a' }),
    })
    expect([status, JSON.parse(text).detail]).toEqual([403, expect.stringContaining('Without a token')])
    expect(JSON.parse((await get('/open/control', {})).text).canAct).toBe(false)
  })

  test('any body is answered', async () => {
    const seed = 20_260_311
    const random = seededRandom(seed)
    const words = ['action', 'mode', 'block', 'policy', 'api', 'key', 'duration', '1h', 'id', 'by', '__proto__', 'off']
    const value = (): unknown => random.pick([random.pick(words), null, random.whole(1e9), -1, [], {}, true, '\ud800'])
    for (let n = 0; n < 200; n++) {
      const body = Object.fromEntries(Array.from({ length: random.whole(5) }, () => [random.pick(words), value()]))
      const { status } = await act(random.pick(['control', 'undo']), body)
      expect({ seed, body, status, isAnswered: [200, 400, 404].includes(status) }).toMatchObject({ isAnswered: true })
    }
    for (const { id } of insight.controls()) await insight.undo(id)
  })
})

test('a key in the URL may contain a question mark', async () => {
  const asked = limiter()
  await insight.control({ action: 'block', key: 'a?b', duration: '1m' })
  expect(JSON.parse((await get('/limits/explain?key=a?b')).text).summary[0]).toMatch(/^blocked/)
  asked.close()
})

test.each([[{ toString: 1, valueOf: 1 }], [null], [7], [['x']]])(
  'an ID that is not a string is unknown: %j',
  async (id) => {
    expect((await act('undo', { id })).status).toBe(404)
    expect((await act('control', { action: 'block', id })).status).toBe(404)
  },
)

test('the name of an operator who undoes a change must be a string', async () => {
  const asked = limiter()
  const { id } = await insight.control({ action: 'mode', policy: 'api', mode: 'off' })
  expect(await act('undo', { id, by: { a: 1 } })).toMatchObject({ status: 400 })
  expect(await act('undo', { id, by: 'ops' })).toMatchObject({ status: 200 })
  asked.close()
})

test('a body with __proto__ does not modify any prototype', async () => {
  const asked = limiter()
  const body = '{"action":"block","key":"a","__proto__":{"policy":"api"},"constructor":{"prototype":{"x":1}}}'
  const sent = await ask(served.port, '/limits/control', { method: 'POST', headers: json, body })
  expect(sent.status).toBe(400)
  expect(({} as { policy?: string; x?: number }).policy ?? ({} as { x?: number }).x).toBeUndefined()
  const deep = `${'['.repeat(8_000)}${']'.repeat(8_000)}`
  expect((await ask(served.port, '/limits/control', { method: 'POST', headers: json, body: deep })).status).toBe(400)
  asked.close()
})
