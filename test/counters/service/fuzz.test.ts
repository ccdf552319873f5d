import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { eachSeed, hostileKeys, type SeededRandom } from '@sluice/testkit'
import { rawAnswer, statusIn } from './raw-request.ts'
import { ServiceSite } from './service-site.ts'

const RUNS = 8
const REQUESTS = 150
const METHODS = ['GET', 'POST', 'DELETE', 'HEAD', 'PUT', 'OPTIONS', 'PATCH', 'get', 'G T', '']
const PARTS = [
  'counters',
  'batch',
  'flush',
  'increment',
  'reset',
  'aggregate',
  'healthz',
  'metrics',
  'openapi.json',
  '',
]
const ODD = [
  '%',
  '%2',
  '%ff',
  '%C0%80',
  '..',
  '.',
  '%00',
  '*',
  '%2A',
  '?',
  '#',
  '=',
  '&',
  '+',
  'é',
  '\x7f',
  'a'.repeat(300),
]
const NAMES = ['delta', 'deltas', 'durable', '__proto__', 'constructor', 'a', '']
const SCALARS = [
  '1',
  '-1',
  '0',
  '1e400',
  '-0',
  '9007199254740991',
  '9007199254740993',
  'true',
  'null',
  '"1"',
  '[]',
  '{}',
  '0.5',
  'x',
]
const HEADERS = [
  'Content-Type: application/json',
  'Content-Type: text/plain',
  'Content-Type: application/json; charset=utf-8',
  'Content-Encoding: gzip',
  'Idempotency-Key: "a"',
  'Idempotency-Key: b',
  'Idempotency-Key: "',
  'Idempotency-Key: %"%ff"',
  'Authorization: Bearer x',
  'Expect: 100-continue',
  'Transfer-Encoding: chunked',
  'Content-Length: 5',
  'Content-Length: 70000',
  'Content-Length: -1',
  'Connection: upgrade',
  'Upgrade: websocket',
  'X-Forwarded-For: 1',
  'Range: bytes=0-1',
  'If-None-Match: *',
  'Bad Header',
]
// escapes cannot represent lone surrogates
const IDS = hostileKeys.filter((key) => key.length < 99 && !/[\ud800-\udfff]/.test(key))
let site: ServiceSite

beforeAll(async () => {
  site = await ServiceSite.start()
})
afterAll(() => site.stop())

test('no request causes a server error, a hang or a crash of the process', async () => {
  const statuses = new Map<number, number>()
  await eachSeed(RUNS, async (random) => {
    for (let sent = 0; sent < REQUESTS; sent++) {
      const bytes = randomRequest(random)
      const status = statusIn(await rawAnswer(site.port, bytes))
      statuses.set(status, (statuses.get(status) ?? 0) + 1)
      if (status >= 500 && status !== 503) throw new Error(`status ${status} of ${JSON.stringify(bytes)}`)
    }
  })
  expect((await site.ask('GET', '/healthz')).status).toBe(200)
  // most requests get past the parser of Node
  for (const status of [200, 400, 404, 405, 415]) expect([status, statuses.has(status)]).toEqual([status, true])
})

function randomRequest(random: SeededRandom): string {
  const method = random.whole(4) === 0 ? random.pick(METHODS) : random.pick(['GET', 'POST', 'POST', 'DELETE'])
  const body = random.whole(3) === 0 ? '' : randomBody(random)
  const headers = Array.from({ length: random.whole(4) }, () => random.pick(HEADERS))
  if (random.whole(3) > 0) headers.push('Content-Type: application/json')
  if (random.whole(4) > 0) headers.push(`Content-Length: ${Buffer.byteLength(body)}`)
  const head = `${method} ${randomTarget(random)} HTTP/1.1\r\nHost: localhost\r\nConnection: close`
  return mutated(random, `${[head, ...headers].join('\r\n')}\r\n\r\n${body}`)
}

function randomTarget(random: SeededRandom): string {
  if (random.whole(3) === 0)
    return random.pick(['/counters/a/increment', '/counters/batch', '/counters/a', '/counters'])
  const part = (): string => {
    const kind = random.whole(4)
    if (kind === 0) return random.pick(ODD)
    if (kind === 1) return encodeURIComponent(random.pick(IDS))
    return random.pick(PARTS)
  }
  const path = `/counters/${Array.from({ length: random.whole(4) }, part).join('/')}`
  return random.whole(3) === 0 ? `${path}?${part()}=${part()}&limit=${random.pick(SCALARS)}` : path
}

function randomBody(random: SeededRandom): string {
  const fields = Array.from({ length: random.whole(3) }, () => {
    const name = random.pick(NAMES)
    const value = name === 'deltas' ? randomDeltas(random) : random.pick(SCALARS)
    return `${JSON.stringify(name)}:${value}`
  })
  return `{${fields.join(',')}}`
}

function randomDeltas(random: SeededRandom): string {
  const entries = Array.from({ length: random.whole(4) }, () => [
    JSON.stringify(random.pick(hostileKeys)),
    random.pick(SCALARS),
  ])
  return random.whole(2) === 0
    ? `{${entries.map((entry) => entry.join(':')).join(',')}}`
    : `[${entries.map((entry) => `[${entry.join(',')}]`).join(',')}]`
}

/** Replaces a random byte in one of four texts. */
function mutated(random: SeededRandom, text: string): string {
  if (random.whole(4) > 0) return text
  const at = random.whole(text.length)
  return `${text.slice(0, at)}${String.fromCharCode(random.whole(256))}${text.slice(at + 1)}`
}
