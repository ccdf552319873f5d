import { connect } from 'node:net'
import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { FakeClock } from '@sluice/testkit'
import { eventually } from '../../services/eventually.ts'
import { rawAnswer, statusIn } from './raw-request.ts'
import { ServiceSite } from './service-site.ts'

const JSON_TYPE = { 'Content-Type': 'application/json' }
const INCREMENT = '/counters/body/increment'
const clock = new FakeClock()
let site: ServiceSite

beforeAll(async () => {
  site = await ServiceSite.start({ clock })
})
afterAll(() => site.stop())

describe('a body', () => {
  test.each<readonly [string, string | Buffer]>([
    ['is not JSON', '{"delta":'],
    ['contains only a space', ' '],
    ['is a number', '1'],
    ['is null', 'null'],
    ['is a list', '[1]'],
    ['is not UTF-8', Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d])],
    ['has an unknown field', '{"delta":1,"detla":2}'],
    ['has a duplicate field', '{"delta":1,"delta":2}'],
    ['has a duplicate field, once escaped', '{"delta":1,"d\\u0065lta":2}'],
    ['has a string as delta', '{"delta":"1"}'],
    ['has null as delta', '{"delta":null}'],
    ['has a fractional delta', '{"delta":0.5}'],
    ['has a delta above the maximum', '{"delta":1e400}'],
    ['has a number that does not fit into a double', '{"delta":9007199254740993}'],
    ['has an invalid durable', '{"durable":"yes"}'],
    ['is for another route', '{"deltas":{}}'],
  ])('is rejected if it %s', async (_, body) => {
    expect((await site.ask('POST', INCREMENT, { body, headers: JSON_TYPE })).status).toBe(400)
  })

  test.each<readonly [string, string]>([
    ['has no deltas', '{}'],
    ['has null as deltas', '{"deltas":null}'],
    ['has a duplicate id', '{"deltas":{"twice":1,"twice":2}}'],
    ['has pairs of three', '{"deltas":[["a",1,2]]}'],
    ['has deeply nested deltas', '{"deltas":{"a":{"b":1}}}'],
    ['has an empty id', '{"deltas":{"":1}}'],
    ['has more nested brackets than the stack can hold', `{"deltas":${'['.repeat(30_000)}${']'.repeat(30_000)}}`],
  ])('of a batch is rejected if it %s', async (_, body) => {
    expect((await site.ask('POST', '/counters/batch', { body, headers: JSON_TYPE })).status).toBe(400)
    expect(await site.counters.aggregate('')).toBe(0)
  })

  test.each([
    ['text/plain', 415],
    ['application/json; charset=latin1', 415],
    ['application/jsonp', 415],
    ['application/x-www-form-urlencoded', 415],
    ['Application/JSON; Charset="UTF-8"', 200],
    ['application/json;charset=utf-8', 200],
  ])('of type %s is answered with %d', async (type, status) => {
    const headers = { 'Content-Type': type }
    expect((await site.ask('POST', INCREMENT, { body: '{"delta":0}', headers })).status).toBe(status)
  })

  test('is rejected without a content type and with compression', async () => {
    expect((await site.ask('POST', INCREMENT, { body: '{"delta":1}' })).status).toBe(415)
    const headers = { ...JSON_TYPE, 'Content-Encoding': 'gzip' }
    const answer = await site.ask('POST', INCREMENT, { body: gzipSync('{"delta":1}'), headers })
    expect([answer.status, answer.headers['accept-encoding']]).toEqual([415, 'identity'])
  })

  test('of 64 KiB is read, and one more byte is rejected', async () => {
    const padded = (bytes: number) => `{"delta":0${' '.repeat(bytes - 11)}}`
    expect((await site.ask('POST', INCREMENT, { body: padded(65_536), headers: JSON_TYPE })).status).toBe(200)
    const head = `POST ${INCREMENT} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n`
    const declared = await rawAnswer(site.port, `${head}Content-Length: 65537\r\n\r\n`, { end: false })
    expect([statusIn(declared), /\r\nConnection: close\r\n/.test(declared)]).toEqual([413, true])
    const chunk = `${(65_537).toString(16)}\r\n${padded(65_537)}\r\n`
    const chunked = await rawAnswer(site.port, `${head}Transfer-Encoding: chunked\r\n\r\n${chunk}`, { end: false })
    expect(statusIn(chunked)).toBe(413)
  })

  test('that arrives too slowly or is cut off is dropped', async () => {
    const head = `POST ${INCREMENT} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n`
    const pending = clock.pending
    const slow = rawAnswer(site.port, `${head}Content-Length: 11\r\n\r\n{"del`, { end: false })
    await eventually(async () => clock.pending > pending, { what: 'the wait for a body' })
    clock.advance(10_000)
    expect(statusIn(await slow)).toBe(408)
    const socket = connect(site.port, '127.0.0.1')
    socket.write(`${head}Content-Length: 11\r\n\r\n{"del`)
    await eventually(async () => clock.pending > pending, { what: 'the wait for a body' })
    socket.destroy()
    await eventually(async () => /status="closed"\} 1$/m.test((await site.ask('GET', '/metrics')).text), {
      what: 'the end of a request whose client left',
    })
    expect(clock.pending).toBe(pending)
  })

  test('is requested if the client sends Expect: 100-continue', async () => {
    const head = `POST ${INCREMENT} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nExpect: 100-continue\r\n`
    const answer = await rawAnswer(site.port, `${head}Connection: close\r\nContent-Length: 11\r\n\r\n{"delta":0}`)
    expect(answer).toMatch(/^HTTP\/1\.1 100 Continue\r\n\r\nHTTP\/1\.1 200 OK\r\n/)
  })
})

describe('a request line', () => {
  const line = (target: string, method = 'GET') =>
    rawAnswer(site.port, Buffer.from(`${method} ${target} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n`))

  test.each([
    ['in absolute form, as sent to a proxy', 'http://localhost/counters/a', 200],
    ['with an empty query', '/counters?', 200],
    ['with a duplicate parameter', '/counters?limit=1&limit=2', 400],
    ['with an unknown parameter', '/counters?prefx=a', 400],
    ['with a limit of 0', '/counters?limit=0', 400],
    ['with a limit above the maximum', '/counters?limit=10001', 400],
    ['with a limit that is not a number', '/counters?limit=1e3', 400],
    ['with an empty cursor', '/counters?after=', 400],
    ['with an invalid escape in the query', '/counters?prefix=%ff', 400],
    ['with bytes that are not encoded', '/counters/é', 400],
    ['with a fragment', '/counters/a#b', 400],
    ['with two slashes', '//counters/a', 404],
    ['with a trailing slash', '/counters/a/increment/', 404],
    ['with an unknown path', '/', 404],
    ['with a property of Object.prototype', '/__proto__', 404],
  ])('%s is answered', async (_, target, status) => {
    expect([target, statusIn(await line(target))]).toEqual([target, status])
  })

  test('with an asterisk or an unknown method is answered', async () => {
    expect(statusIn(await line('*', 'OPTIONS'))).toBe(404)
    expect(statusIn(await line('/counters/a', 'PROPFIND'))).toBe(405)
    expect(await line('/counters/batch', 'PUT')).toMatch(/\r\nAllow: POST, GET, DELETE, HEAD\r\n/)
  })

  test('that follows another one on a connection is answered separately', async () => {
    const one = `POST ${INCREMENT} HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0\r\n\r\n`
    const answer = await rawAnswer(site.port, `${one}${one.replace('\r\n\r\n', '\r\nConnection: close\r\n\r\n')}`)
    expect(answer.match(/HTTP\/1\.1 200 OK/g)).toHaveLength(2)
  })

  test('with an unread body is the last one of its connection', async () => {
    const reset = `POST /counters/a/reset HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100000\r\n\r\n{`
    const answer = await rawAnswer(site.port, reset, { end: false })
    expect([statusIn(answer), /\r\nConnection: close\r\n/.test(answer)]).toEqual([204, true])
  })
})
