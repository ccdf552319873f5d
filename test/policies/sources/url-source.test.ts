import type { ServerResponse } from 'node:http'
import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals'
import { type UrlSourceOptions, urlSource } from '@sluice/policies'
import { FakeClock } from '@sluice/testkit'
import { eventually } from '../../services/eventually.ts'
import { DocumentServer, etagOf } from './document-server.ts'

jest.setTimeout(120_000)

let server: DocumentServer
let other: DocumentServer

beforeEach(async () => {
  server = new DocumentServer()
  other = new DocumentServer()
  await Promise.all([server.start(), other.start()])
  server.text = 'first'
  other.text = 'elsewhere'
})

afterEach(() => Promise.all([server.stop(), other.stop()]))

const source = (url = server.url, options: UrlSourceOptions = {}) => urlSource(url, { timeoutMs: '5s', ...options })
const redirecting = (to: string) => (path: string, response: ServerResponse) => {
  if (path !== '/policies.yaml') return false
  response.writeHead(302, { location: to }).end('elsewhere')
  return true
}
const messageOf = (promise: Promise<unknown>): Promise<string> =>
  promise.then(
    () => 'no error',
    (error: unknown) => String(error),
  )

describe('a conditional request', () => {
  test('sends the ETag, and an unchanged document is not sent again', async () => {
    const reading = source()
    await reading.read()
    expect(await reading.read()).toBeUndefined()
    expect(server.received.map(({ status }) => status)).toEqual([200, 304])
    expect(server.received[1].headers['if-none-match']).toBe(etagOf('first'))
    server.text = 'second'
    expect(await reading.read()).toBe('second')
  })

  test('sends Last-Modified if there is no ETag', async () => {
    server.etags = false
    server.times = { modified: 'Fri, 27 Nov 2026 10:00:00 GMT', date: 'Fri, 27 Nov 2026 10:00:01 GMT' }
    const reading = source()
    await reading.read()
    expect(await reading.read()).toBeUndefined()
    expect(server.received.map(({ status }) => status)).toEqual([200, 304])
  })

  test('omits a Last-Modified of the same second, in which the document may change again', async () => {
    server.etags = false
    server.times = { modified: 'Fri, 27 Nov 2026 10:00:00 GMT', date: 'Fri, 27 Nov 2026 10:00:00 GMT' }
    const reading = source()
    await reading.read()
    server.text = 'second'
    expect(await reading.read()).toBe('second')
  })

  test('omits an ETag of another URL, to which it means nothing', async () => {
    const reading = source()
    server.answer = redirecting(other.url)
    await reading.read()
    server.answer = redirecting('/moved')
    expect(await reading.read()).toBe('first')
    expect(server.received.at(-1)?.headers['if-none-match']).toBeUndefined()
  })

  test('fails if an unconditional request receives 304', async () => {
    server.answer = (_path, response) => {
      response.writeHead(304).end()
      return true
    }
    expect(await messageOf(source().read())).toMatch(/expected the status 200, received 304/)
  })
})

describe('credentials', () => {
  test('of the URL are sent as basic authentication and are in no message', async () => {
    const url = `${server.url.replace('//', '//ann:pass%20word@')}?token=secret`
    const reading = source(url)
    await reading.read()
    const { path, headers } = server.received[0]
    expect(path).toBe('/policies.yaml?token=secret')
    expect(headers.authorization).toBe(`Basic ${Buffer.from('ann:pass word').toString('base64')}`)
    expect(reading.name).toBe(server.url)
    server.text = undefined
    expect(await messageOf(reading.read())).not.toMatch(/ann|pass|secret/)
  })

  test('are sent after a redirect within the origin, and to no other origin', async () => {
    const headers = { authorization: 'Bearer secret', 'x-api-key': 'secret' }
    server.answer = redirecting('/moved')
    await source(server.url, { headers }).read()
    expect(server.received.map(({ path, headers }) => [path, headers['x-api-key']])).toEqual([
      ['/policies.yaml', 'secret'],
      ['/moved', 'secret'],
    ])
    server.answer = redirecting(other.url)
    expect(await source(server.url, { headers }).read()).toBe('elsewhere')
    expect(other.received[0].headers).not.toHaveProperty('x-api-key')
    expect(other.received[0].headers).not.toHaveProperty('authorization')
  })
})

describe('a response', () => {
  test('may be compressed, and may have any content type', async () => {
    server.compressed = true
    expect(await source().read()).toBe('first')
  })

  test('of more than 4 MiB is refused, also if it is small while it is compressed', async () => {
    server.text = 'x'.repeat(2 ** 22)
    expect(await source().read()).toHaveLength(2 ** 22)
    server.text += 'x'
    expect(await messageOf(source().read())).toMatch(/expected a document of at most 4194304 bytes/)
    server.compressed = true
    server.etags = false
    expect(await messageOf(source().read())).toMatch(/expected a document of at most 4194304 bytes/)
  })

  test('that redirects forever is refused', async () => {
    server.answer = redirecting('/policies.yaml')
    expect(await messageOf(source().read())).toMatch(/expected at most 5 redirects, received more/)
    expect(server.received).toHaveLength(6)
  })

  test.each(['', 'file:///etc/passwd', 'http://user:secret@127.0.0.1/'])(
    'that redirects to %p is refused',
    async (to) => {
      server.answer = redirecting(to)
      const message = await messageOf(source().read())
      expect(message).toMatch(/expected a redirect/)
      expect(message).not.toMatch(/secret/)
    },
  )

  test('that does not arrive in time is refused', async () => {
    const clock = new FakeClock()
    server.answer = () => true
    const reading = source(server.url, { clock, timeoutMs: '5s' })
    const message = messageOf(reading.read())
    await eventually(async () => clock.pending > 0, { what: 'a request' })
    clock.advance(5_000)
    expect(await message).toMatch(/no complete response within 5000 ms/)
    expect(clock.pending).toBe(0)
    server.answer = undefined
    expect(await reading.read()).toBe('first')
  })

  test('whose body does not end in time is refused', async () => {
    const clock = new FakeClock()
    const begun = new Promise<void>((resolve) => {
      server.answer = (_path, response) => {
        response.writeHead(200).write('version', () => resolve())
        return true
      }
    })
    const message = messageOf(source(server.url, { clock, timeoutMs: '5s' }).read())
    await begun
    clock.advance(5_000)
    expect(await message).toMatch(/no complete response within 5000 ms/)
  })

  test('that ends early is refused', async () => {
    server.answer = (_path, response) => {
      response.writeHead(200, { 'content-length': '100' }).write('version', () => response.destroy())
      return true
    }
    expect(await messageOf(source().read())).toMatch(/SLUICE_POLICIES_UNREADABLE/)
  })
})

test('failures double the time until the next look, up to a minute, and a success ends that', async () => {
  const clock = new FakeClock()
  const reading = source()
  const looks: number[] = []
  const stop = reading.watch(() => looks.push(clock.now()), { clock, intervalMs: 10_000 })
  clock.advance(10_000)
  await server.stop()
  for (let failure = 0; failure < 4; failure++) await messageOf(reading.read())
  const waitForLook = (): number => {
    const [before, since] = [looks.length, looks.at(-1) as number]
    while (looks.length === before) clock.advance(1_000)
    return Math.round(((looks.at(-1) as number) - since) / 1_000)
  }
  waitForLook()
  expect(waitForLook()).toBe(60)
  await server.start()
  await reading.read()
  waitForLook()
  expect(waitForLook()).toBe(10)
  stop()
})

test('no look is added while a read is under way', async () => {
  const clock = new FakeClock()
  server.answer = () => true
  const reading = source()
  let looks = 0
  const stop = reading.watch(() => looks++, { clock, intervalMs: 1_000 })
  const read = messageOf(reading.read())
  clock.advance(10_000)
  expect(looks).toBe(0)
  await server.stop()
  await read
  clock.advance(60_000)
  expect(looks).toBeGreaterThan(0)
  stop()
})

test.each([
  ['not a URL', /url: expected a URL that begins with http: or https:, received a string of 9 characters/],
  ['ftp://admin:hunter2@host/', /url: expected a URL that begins with http: or https:, received a string/],
])('the URL %p is refused without being shown', (url, message) => {
  expect(() => urlSource(url)).toThrow(message)
  expect(() => urlSource(url)).not.toThrow(/hunter2/)
})

test('invalid headers are refused without being shown', () => {
  expect(() => urlSource(server.url, { headers: { 'x-key': 'hunter2\n' + 'x' } })).toThrow(
    /headers: expected an object of valid header names and values/,
  )
})

test('a server that sends only half of its headers is given up', async () => {
  const clock = new FakeClock()
  const arrived = new Promise<void>((resolve) => {
    server.answer = (_path, response) => {
      response.socket?.write('HTTP/1.1 200 OK\r\netag: ', () => resolve())
      return true
    }
  })
  const message = messageOf(source(server.url, { clock, timeoutMs: '1s' }).read())
  await arrived
  clock.advance(1_000)
  expect(await message).toMatch(/no complete response/)
})
