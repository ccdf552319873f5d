import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { counterOpenApi, createCounters } from '@sluice/counters'
import { CounterMetric } from '@sluice/fleet/metrics'
import { paths, schemaOf } from './described-answer.ts'
import { ServiceSite } from './service-site.ts'

let site: ServiceSite
const gauge = new CounterMetric({ name: 'jobs_total', help: 'Jobs.' })

beforeAll(async () => {
  site = await ServiceSite.start({ metrics: [gauge] })
})
afterAll(() => site.stop())

describe('counting', () => {
  test('an increment without a body counts 1, and with a body its delta', async () => {
    expect((await site.ask('POST', '/counters/a/increment')).json).toEqual({ value: 1, status: 'ok' })
    expect((await site.ask('POST', '/counters/a/increment', { body: {} })).json).toEqual({ value: 2, status: 'ok' })
    const answer = await site.ask('POST', '/counters/a/increment', { body: { delta: -40 } })
    expect(answer.json).toEqual({ value: -38, status: 'ok' })
    expect(answer.headers['cache-control']).toBe('no-store')
  })

  test('a token counts once, and its repetition returns a duplicate', async () => {
    const asked = { body: { delta: 5 }, headers: { 'Idempotency-Key': '"order-17"' } }
    expect((await site.ask('POST', '/counters/once/increment', asked)).json).toEqual({ value: 5, status: 'ok' })
    const again = await site.ask('POST', '/counters/once/increment', asked)
    expect(again.json).toEqual({ value: 5, status: 'duplicate' })
    const other = await site.ask('POST', '/counters/once/increment', { ...asked, body: { delta: 6 } })
    expect([other.status, other.json.code]).toEqual([422, 'SLUICE_TOKEN_REUSED'])
  })

  test.each([
    ['quoted and bare', '"t1"', 't1'],
    ['escaped', '"a\\"b\\\\"', '%"a%22b\\"'],
    ['of special characters', '%"gr%c3%bc%c3%9fe"', '%"%67r%c3%bc%c3%9fe"'],
  ])('a token is the same in any notation: %s', async (name, one, other) => {
    const count = (token: string) =>
      site.ask('POST', `/counters/written/increment?`, { body: { delta: 1 }, headers: { 'Idempotency-Key': token } })
    expect([name, (await count(one)).json.status]).toEqual([name, 'ok'])
    expect([name, (await count(other)).json.status]).toEqual([name, 'duplicate'])
  })

  test.each([
    ['empty', ''],
    ['an empty string', '""'],
    ['of several items', '"a", "b"'],
    ['without a closing quote', '"a'],
    ['with parameters', '"a";p=1'],
    ['of bytes that are not UTF-8', '%"%ff"'],
    ['sent twice', ['a', 'b']],
    ['sent in two headers', ['"a', 'b"']],
    ['too long', 'x'.repeat(257)],
  ])('an invalid token is rejected: %s', async (_, token) => {
    const answer = await site.ask('POST', '/counters/never/increment', { headers: { 'Idempotency-Key': token } })
    expect([answer.status, answer.json.code]).toEqual([400, 'SLUICE_BAD_TOKEN'])
    expect((await site.counters.read('never')).value).toBe(0)
  })

  test('a batch is a record or pairs, and is counted completely or not at all', async () => {
    const record = await site.ask('POST', '/counters/batch', { body: { deltas: { x: 1, y: 2 } } })
    expect(record.json).toEqual({ values: { x: 1, y: 2 }, status: 'ok' })
    const twice = [
      ['x', 10],
      ['x', 5],
    ]
    const pairs = await site.ask('POST', '/counters/batch', { body: { deltas: twice } })
    expect(pairs.json).toEqual({ values: { x: 16 }, status: 'ok' })
    const bad = await site.ask('POST', '/counters/batch', { body: { deltas: { x: 1, y: 0.5 } } })
    expect([bad.status, bad.json.code]).toEqual([400, 'SLUICE_BAD_DELTA'])
    expect((await site.counters.read('x')).value).toBe(16)
  })

  test('property names of Object.prototype are ordinary counter names and ids', async () => {
    const body = '{"deltas":{"__proto__":1,"constructor":2,"hasOwnProperty":3}}'
    const answer = await site.ask('POST', '/counters/batch', { body, headers: { 'Content-Type': 'application/json' } })
    expect(answer.text).toBe('{"values":{"__proto__":1,"constructor":2,"hasOwnProperty":3},"status":"ok"}')
    expect((await site.ask('GET', '/counters/__proto__')).json.value).toBe(1)
    expect(({} as { value?: unknown }).value).toBeUndefined()
    const field = '{"__proto__":{"delta":7}}'
    const unknown = await site.ask('POST', '/counters/p/increment', {
      body: field,
      headers: { 'Content-Type': 'application/json' },
    })
    expect(unknown.status).toBe(400)
  })

  test('an increment beyond the range is answered with a conflict', async () => {
    await site.ask('POST', '/counters/full/increment', { body: { delta: Number.MAX_SAFE_INTEGER } })
    const answer = await site.ask('POST', '/counters/full/increment')
    expect([answer.status, answer.json.code]).toEqual([409, 'SLUICE_COUNTER_RANGE'])
    expect(answer.json.detail).not.toMatch(/SLUICE|https:/)
  })
})

describe('reading', () => {
  test('an unknown counter is 0, and a counted one has a version and a time', async () => {
    expect((await site.ask('GET', '/counters/nobody')).json).toEqual({
      id: 'nobody',
      value: 0,
      version: 0,
      updatedAt: null,
    })
    await site.ask('POST', '/counters/seen/increment', { body: { delta: 3, durable: true } })
    const { json } = await site.ask('GET', '/counters/seen?maxAgeMs=0')
    expect(json).toEqual({ id: 'seen', value: 3, version: 1, updatedAt: expect.any(Number) })
  })

  test('HEAD has the headers of GET and no body', async () => {
    const { status, text, headers } = await site.ask('HEAD', '/counters/seen')
    expect([status, text]).toEqual([200, ''])
    expect(Number(headers['content-length'])).toBeGreaterThan(10)
  })

  test('lists continue from their cursor, and sums include all ids with the prefix', async () => {
    await site.counters.incrementMany({ 'page:1': 1, 'page:2': 2, 'page:3': 4, 'page é*': 8 })
    const first = await site.ask('GET', '/counters?prefix=page%3A&limit=2')
    expect(first.json).toMatchObject({ counters: [{ id: 'page:1' }, { id: 'page:2' }], next: 'page:2' })
    const second = await site.ask('GET', '/counters?prefix=page:&limit=2&after=page:2')
    expect(second.json).toMatchObject({ counters: [{ id: 'page:3' }], next: null })
    const spaced = await site.ask('GET', '/counters?prefix=page+%C3%A9')
    expect(spaced.json).toMatchObject({ counters: [{ id: 'page é*', value: 8 }] })
    expect((await site.ask('GET', '/counters/page:*/aggregate')).json).toEqual({ prefix: 'page:', sum: 7 })
    expect((await site.ask('GET', '/counters/page%20%C3%A9**/aggregate')).json).toEqual({ prefix: 'page é*', sum: 8 })
    expect((await site.ask('GET', '/counters/*/aggregate')).json.prefix).toBe('')
    expect((await site.ask('GET', '/counters/page/aggregate')).status).toBe(404)
  })
})

describe('clearing', () => {
  test('a reset keeps a counter in lists, but a deletion does not', async () => {
    await site.counters.incrementMany({ 'gone:1': 1, 'gone:2': 2 }, { durable: true })
    expect((await site.ask('POST', '/counters/gone:1/reset')).status).toBe(204)
    expect((await site.ask('DELETE', '/counters/gone:2')).status).toBe(204)
    expect((await site.ask('DELETE', '/counters/gone:never')).status).toBe(204)
    expect((await site.ask('GET', '/counters?prefix=gone:')).json.counters).toMatchObject([{ id: 'gone:1', value: 0 }])
  })

  test('a flush is answered when it has finished', async () => {
    expect((await site.ask('POST', '/counters/flush')).status).toBe(204)
  })
})

describe('ids in paths', () => {
  test.each([
    ['a slash', 'a%2Fb', 'a/b'],
    ['a percent sign, decoded once', '%2525', '%25'],
    ['dot segments', '..', '..'],
    ['NUL', 'a%00', 'a\0'],
    ['a character of four bytes', '%F0%9F%98%80', '😀'],
    ['a star', '*', '*'],
    ['the name of a route', 'increment', 'increment'],
    ['the name of another route', 'batch', 'batch'],
    ['256 bytes', '%C3%A9'.repeat(128), 'é'.repeat(128)],
  ])('can contain %s', async (_, path, id) => {
    expect((await site.ask('POST', `/counters/${path}/increment`, { body: { delta: 9 } })).status).toBe(200)
    expect((await site.ask('GET', `/counters/${path}`)).json).toMatchObject({ id, value: 9 })
    expect((await site.counters.read(id)).value).toBe(9)
  })

  test.each([
    ['half of an escape', '%'],
    ['an escape without digits', '%zz'],
    ['an invalid first byte', '%80'],
    ['an overlong form', '%C0%80'],
    ['half of a surrogate pair', '%ED%A0%80'],
    ['an invalid byte', ''],
    ['257 bytes', 'x'.repeat(257)],
  ])('are rejected with %s', async (_, path) => {
    expect((await site.ask('GET', `/counters/${path}`)).status).toBe(400)
    expect((await site.ask('POST', `/counters/${path}/increment`)).status).toBe(400)
    expect((await site.ask('DELETE', `/counters/${path}`)).status).toBe(400)
  })
})

describe('other routes', () => {
  test('health, the document and metrics', async () => {
    gauge.add(3)
    expect((await site.ask('GET', '/healthz')).json).toEqual({ status: 'ok' })
    expect((await site.ask('GET', '/openapi.json')).json).toEqual(counterOpenApi)
    const { text } = await site.ask('GET', '/metrics')
    expect(text).toMatch(/^sluice_counters_http_requests_total\{route="\/healthz",status="200"\} 1$/m)
    expect(text).toMatch(
      /^sluice_counters_http_request_ms_bucket\{route="\/counters\/\{id\}\/increment",le="1"\} \d+$/m,
    )
    expect(text).toMatch(/^jobs_total 3$/m)
  })

  test('every path of the document exists, with the documented methods only', async () => {
    for (const [path, operations] of Object.entries(paths)) {
      const { status, headers } = await site.ask('PATCH', path.replace('{id}', 'q').replace('{prefix}', 'q'))
      expect([path, status]).toEqual([path, 405])
      const methods = Object.keys(operations).filter((name) => name !== 'parameters')
      const allowed = String(headers.allow).toLowerCase().split(', ')
      expect(allowed).toEqual(expect.arrayContaining(methods))
    }
  })

  test('every schema of the document is valid JSON Schema 2020-12', () => {
    const { schemas } = counterOpenApi.components as { readonly schemas: Record<string, unknown> }
    for (const name of Object.keys(schemas)) expect(typeof schemaOf(name)).toBe('function')
  })

  test('a failure of the counters is a 500 that reveals no details', async () => {
    const counters = createCounters()
    counters.read = async () => {
      throw Object.assign(new Error('password=hunter2'), { code: 'ECONNREFUSED' })
    }
    const faulty = await ServiceSite.start({ counters })
    const { status, json } = await faulty.ask('GET', '/counters/a')
    expect([status, json]).toEqual([
      500,
      { type: 'about:blank', title: 'Internal Server Error', status: 500, code: 'internal' },
    ])
    await faulty.stop()
  })
})
