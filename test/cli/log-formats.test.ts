import { describe, expect, test } from '@jest/globals'
import { lineParser } from '../../packages/cli/src/log/line-parser.ts'
import type { LogEntry } from '../../packages/cli/src/log/log-entry.ts'
import { combinedLine, commonLine, LOG_START } from './log-lines.ts'

const NAMES = ['address', 'principal', 'method', 'path', 'status', 'bytes', 'referer', 'user_agent']

function parsed(line: string, format?: string): LogEntry {
  const entry = lineParser(format)(line)
  if (typeof entry === 'string') throw new Error(entry)
  return entry
}

const fields = (entry: LogEntry): Record<string, unknown> =>
  Object.fromEntries(NAMES.map((name) => [name, entry.field(name)]))

describe('the Common and the Combined format', () => {
  const line = {
    timeMs: LOG_START + 3000,
    address: '83.149.9.216',
    user: 'frank',
    request: 'GET /a/b?c=d HTTP/1.1',
    status: 404,
    bytes: 203023,
    referer: 'http://example.com/',
    agent: 'curl/8',
  }
  const common = {
    ...{ address: '83.149.9.216', principal: 'frank', method: 'GET', path: '/a/b', status: '404', bytes: '203023' },
    ...{ referer: undefined, user_agent: undefined },
  }

  test('have all their fields', () => {
    for (const format of [undefined, 'auto', 'common', 'combined']) {
      expect(fields(parsed(commonLine(line), format))).toEqual(common)
      const entry = parsed(combinedLine(line), format)
      expect(fields(entry)).toEqual({ ...common, referer: 'http://example.com/', user_agent: 'curl/8' })
      expect(entry.timeMs).toBe(LOG_START + 3000)
    }
  })

  test('provide the referer and the user agent as headers too', () => {
    const entry = parsed(combinedLine(line))
    expect(entry.field('header:user-agent')).toBe('curl/8')
    expect(entry.field('header:referer')).toBe('http://example.com/')
  })

  test('may have further fields at the end of a line', () => {
    const entry = parsed(`${combinedLine(line)} 0.012 "a \\" quote"`)
    expect(entry.field('user_agent')).toBe('curl/8')
    expect(parsed(`${commonLine(line)} 17`).field('bytes')).toBe('203023')
  })

  test('have no value for a hyphen', () => {
    expect(parsed(combinedLine({ timeMs: LOG_START })).field('principal')).toBeUndefined()
    expect(parsed(combinedLine({ timeMs: LOG_START })).field('referer')).toBeUndefined()
  })

  test('may contain escaped quotes and bytes', () => {
    const agent = 'a \\"quoted\\" one \\\\'
    expect(parsed(combinedLine({ ...line, agent })).field('user_agent')).toBe('a "quoted" one \\')
    expect(parsed(combinedLine({ ...line, agent: '\\x22\\xC3\\xA9' })).field('user_agent')).toBe('"é')
  })

  test('may have a user name with spaces', () => {
    expect(parsed(combinedLine({ ...line, user: 'frank smith' })).field('principal')).toBe('frank smith')
  })

  test('may have a request that is not HTTP', () => {
    for (const request of ['-', '', '\\x16\\x03\\x01', 'GET']) {
      const entry = parsed(combinedLine({ ...line, request }))
      expect(entry.field('path')).toBeUndefined()
      expect(entry.field('status')).toBe('404')
    }
  })

  test('reduce a request target to its path', () => {
    const path = (target: string): unknown =>
      parsed(combinedLine({ ...line, request: `GET ${target} HTTP/1.1` })).field('path')
    expect(path('http://example.com/a?b')).toBe('/a')
    expect(path('http://example.com')).toBe('/')
    expect(path('/a b?c')).toBe('/a b')
    expect(path('*')).toBe('*')
  })

  test.each([
    ['17/May/2026:10:00:03 +0200', LOG_START + 3000 - 7_200_000],
    ['17/May/2026:10:00:03 -0030', LOG_START + 3000 + 1_800_000],
    ['29/Feb/2024:23:59:60 +0000', Date.UTC(2024, 1, 29, 23, 59, 59)],
  ])('have the time %s', (time, expected) => {
    expect(parsed(`::1 - - [${time}] "GET / HTTP/1.1" 200 1`).timeMs).toBe(expected)
  })

  test.each([
    '30/Feb/2026:10:00:03 +0000',
    '00/May/2026:10:00:03 +0000',
    '17/Mai/2026:10:00:03 +0000',
    '17/May/2026:24:00:03 +0000',
    '17/May/2026:10:60:03 +0000',
    '17/May/2026 10:00:03 +0000',
    '17/May/2026:10:00:03 0000',
    '17/May/2026:10:00:03 +00xx',
    '1/May/2026:10:00:03 +0000',
    '',
  ])('have no line with the time %p', (time) => {
    expect(lineParser()(`::1 - - [${time}] "GET / HTTP/1.1" 200 1`)).toBe('expected a time as $time_local')
  })

  test.each([
    ['', "expected ' ' after $remote_addr"],
    ['::1 - -', "expected ' [' after $remote_user"],
    ['::1 - - [17/May/2026:10:00:03 +0000] "GET / HTTP/1.1', "expected '\" ' after $request"],
    ['::1 - - [17/May/2026:10:00:03 +0000] "GET / HTTP/1.1" 200', "expected ' ' after $status"],
  ])('have no line %p', (line, reason) => {
    expect(lineParser()(line)).toBe(reason)
  })
})

describe('a format of nginx', () => {
  const format =
    '$remote_addr - $remote_user [$time_local] "$request" $status $body_bytes_sent "$http_user_agent" "$http_x_api_key" rt=$request_time'
  const line = '::1 - - [17/May/2026:10:00:03 +0000] "POST /a HTTP/1.1" 201 0 "curl/8" "k-1" rt=0.020'

  test('provides its variables by their names, and headers', () => {
    const entry = parsed(line, format)
    expect(entry.field('header:x-api-key')).toBe('k-1')
    expect(entry.field('request_time')).toBe('0.020')
    expect(entry.field('method')).toBe('POST')
    expect(entry.field('bytes')).toBe('0')
    expect(entry.field('toString')).toBeUndefined()
  })

  test('may have an ISO time or seconds, and the parts of the request', () => {
    const iso = parsed(
      '2026-05-17T10:00:03+00:00|GET|/a?b|::1',
      '$time_iso8601|$request_method|$request_uri|$remote_addr',
    )
    expect([iso.timeMs, iso.field('method'), iso.field('path')]).toEqual([LOG_START + 3000, 'GET', '/a'])
    expect(parsed(`${(LOG_START + 3500) / 1000} ::1`, ['$msec $', '{remote_addr}'].join('')).timeMs).toBe(
      LOG_START + 3500,
    )
  })

  test('needs a time, and text between its variables', () => {
    const bad = (text: string): (() => unknown) => {
      return () => lineParser(text)
    }
    expect(bad('$remote_addr')).toThrow(/SLUICE_BAD_OPTION: format: expected one of \$time_local/)
    expect(bad('$msec$remote_addr')).toThrow('format: expected a text after $msec, received another variable')
    expect(bad('apache')).toThrow(/SLUICE_BAD_OPTION: format: expected 'auto'/)
  })

  test('rejects lines that do not have it', () => {
    expect(lineParser(format)(line.replace('rt=', 'rt:'))).toBe("expected '\" rt=' after $http_x_api_key")
    expect(lineParser(`> ${format}`)(line)).toBe("expected '> ' at the start")
  })
})

describe('JSON lines', () => {
  const values = {
    ...{ address: '::1', principal: 'frank', method: 'GET', path: '/a', status: 200, bytes: 7 },
    ...{ referer: 'http://example.com/', user_agent: 'curl/8' },
  }

  test.each([
    [
      'nginx',
      {
        remote_addr: '::1',
        remote_user: 'frank',
        request: 'GET /a?b HTTP/1.1',
        status: 200,
        body_bytes_sent: 7,
        http_referer: 'http://example.com/',
        http_user_agent: 'curl/8',
        time_iso8601: '2026-05-17T12:00:03+02:00',
      },
    ],
    [
      'Caddy',
      {
        ts: (LOG_START + 3000) / 1000,
        request: {
          remote_ip: '::1',
          method: 'GET',
          uri: '/a?b',
          headers: { 'User-Agent': ['curl/8'], Referer: ['http://example.com/'] },
        },
        user_id: 'frank',
        size: 7,
        status: 200,
      },
    ],
    [
      'pino',
      {
        time: LOG_START + 3000,
        req: {
          method: 'GET',
          url: '/a',
          remoteAddress: '::1',
          headers: { 'user-agent': 'curl/8', referer: 'http://example.com/' },
        },
        res: { statusCode: 200 },
        user: 'frank',
        bytes: 7,
      },
    ],
    ['our own words', { time: '2026-05-17 10:00:03', ...values }],
    ['texts', { time: `${LOG_START + 3000}`, ...values }],
  ])('have the fields of %s', (_, line) => {
    const entry = parsed(JSON.stringify(line))
    expect(fields(entry)).toEqual(values)
    expect(entry.timeMs).toBe(LOG_START + 3000)
  })

  test('provide every field at the top by its name, and nested ones by their path', () => {
    const entry = parsed(
      JSON.stringify({ time: LOG_START, product: 'docs', db_ms: 12.5, cached: true, user: { id: 'u1' }, none: null }),
    )
    expect(['product', 'db_ms', 'cached', 'user.id'].map((name) => entry.field(name))).toEqual([
      'docs',
      12.5,
      true,
      'u1',
    ])
    expect(
      ['none', 'user', 'user.name', 'toString', '__proto__', 'constructor.name'].map((name) => entry.field(name)),
    ).toEqual(Array(6).fill(undefined))
  })

  test('provide headers in any case', () => {
    const entry = parsed(JSON.stringify({ time: LOG_START, headers: { 'X-Api-Key': 'k' }, http_x_plan: 'pro' }))
    expect(entry.field('header:x-api-key')).toBe('k')
    expect(entry.field('header:x-plan')).toBe('pro')
    expect(entry.field('header:constructor')).toBeUndefined()
  })

  test.each([
    ['{"time":1', 'expected valid JSON'],
    [
      '{"a":1}',
      'expected a time as one of time, timestamp, @timestamp, ts, time_iso8601, time_local, msec, date, StartUTC',
    ],
    ['{"time":"yesterday"}', /^expected a time/],
    ['{"time":1e30}', /^expected a time/],
    ['{"time":"2026-13-45T99:00:00Z"}', /^expected a time/],
  ])('have no line %p', (line, reason) => {
    expect(lineParser()(line)).toEqual(typeof reason === 'string' ? reason : expect.stringMatching(reason))
  })

  test('are the only ones of the format json', () => {
    expect(lineParser('json')(combinedLine({ timeMs: LOG_START }))).toBe('expected valid JSON')
    expect(lineParser('json')('[1]')).toBe('expected a JSON object')
  })
})
