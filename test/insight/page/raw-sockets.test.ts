import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals'
import { type Dashboard, dashboard } from '@sluice/insight'
import { FakeClock } from '@sluice/testkit'
import { eventually } from '../../services/eventually.ts'
import { endedAfterEach } from '../../services/for-tests.ts'
import { type Listening, listening } from './open-page.ts'
import { ask, logIn } from './page-request.ts'
import { WatchedFleet } from './simulated-fleet.ts'

const token = 'a-token-of-enough-characters'
const UPDATE_MS = 250

let clock: FakeClock
let fleet: WatchedFleet
let served: Listening
let page: Dashboard
const sockets = endedAfterEach<RawSocket>(({ socket }) => socket.destroy())

/** A connection that sends exactly the given bytes. */
class RawSocket {
  text = ''
  isEnded = false
  readonly socket: Socket

  constructor(port: number) {
    this.socket = connect(port, '127.0.0.1')
    this.socket.setEncoding('utf8').on('data', (chunk: string) => {
      this.text += chunk
    })
    this.socket.once('close', () => (this.isEnded = true))
    // a server may close a connection while data is in transit
    this.socket.on('error', () => {})
    sockets.push(this)
  }

  send(...lines: readonly string[]): void {
    this.socket.write(lines.join('\r\n'))
  }

  get statuses(): number[] {
    return [...this.text.matchAll(/HTTP\/1\.1 (\d{3}) /g)].map(([, status]) => Number(status))
  }

  answered(count = 1): Promise<void> {
    return eventually(async () => this.statuses.length >= count, { what: `${count} answers` })
  }

  ended(): Promise<void> {
    return eventually(async () => this.isEnded, { what: 'the end of a connection' })
  }
}

const open = () => new RawSocket(served.port)

async function serve(options: { token?: string } = {}): Promise<void> {
  clock = new FakeClock()
  fleet = new WatchedFleet()
  page = dashboard({ insight: fleet, updateMs: UPDATE_MS, clock, ...options })
  served = await listening(page)
}

afterEach(async () => {
  page.close()
  await served.stop()
})

const LOGIN = ['POST /login HTTP/1.1', 'Host: localhost', 'Content-Type: application/x-www-form-urlencoded']

describe('a login', () => {
  beforeEach(() => serve({ token }))

  test('whose body never arrives is dropped after 10 s', async () => {
    const slow = open()
    slow.send(...LOGIN, 'Content-Length: 40', '', 'token=')
    await eventually(async () => clock.pending > 0, { what: 'a deadline' })
    clock.advance(10_000)
    await slow.ended()
    expect(slow.statuses).toEqual([])
  })

  test('whose body never ends is answered, and its connection is closed', async () => {
    const endless = open()
    endless.send(...LOGIN, 'Transfer-Encoding: chunked', '', '')
    const chunk = `1000\r\n${'x'.repeat(0x1000)}\r\n`
    for (let sent = 0; sent < 4; sent++) endless.send(chunk)
    await endless.ended()
    expect(endless.statuses).toEqual([401])
    expect(endless.text).toContain('Connection: close')
  })

  test('of a megabyte is answered before it is read, and its connection is closed', async () => {
    const large = open()
    large.send(...LOGIN, 'Content-Length: 1048576', '', 'token=')
    await large.ended()
    expect(large.statuses).toEqual([401])
    expect(large.text).toContain('Connection: close')
  })

  test('is rejected while ten slow logins are open, and accepted again after a minute', async () => {
    for (let login = 0; login < 10; login++) open().send(...LOGIN, 'Content-Length: 40', '', 't')
    await eventually(async () => clock.pending >= 10, { what: 'ten logins' })
    expect((await logIn(served.port, '/', token)).status).toBe(429)
    clock.advance(60_000)
    expect((await logIn(served.port, '/', token)).status).toBe(303)
  })

  test.each(['Cookie', 'Authorization', 'X-Any'])('with a megabyte of %s is rejected', async (name) => {
    const large = open()
    large.send('GET / HTTP/1.1', 'Host: localhost', `${name}: ${'sluice_insight=a.b.c; '.repeat(50_000)}`, '', '')
    await large.ended()
    expect(large.statuses).toEqual([431])
    expect((await ask(served.port, '/')).status).toBe(401)
  })
})

describe('the page', () => {
  beforeEach(() => serve())

  test('answers pipelined requests in order', async () => {
    const one = open()
    const get = (path: string, host = 'localhost') => `GET ${path} HTTP/1.1\r\nHost: ${host}\r\n\r\n`
    one.send(get('/') + get('/nothing') + get('/', 'rebound.example') + get('/?token=x') + get('/page.css'))
    await one.answered(5)
    expect(one.statuses).toEqual([200, 404, 403, 400, 200])
  })

  test.each([
    ['POST / HTTP/1.1', 404],
    ['PUT /stream HTTP/1.1', 405],
    ['DELETE / HTTP/1.1', 405],
    ['GET /nothing HTTP/1.1', 404],
  ])('does not wait for the body of a rejected request: %s', async (line, status) => {
    const one = open()
    one.send(line, 'Host: localhost', 'Transfer-Encoding: chunked', '', '5\r\nhello\r\n')
    await one.ended()
    expect(one.statuses).toEqual([status])
    expect(one.text).toContain('Connection: close')
  })

  test.each(['OPTIONS', 'TRACE', 'PATCH', 'PROPFIND'])('rejects %s, and reflects no headers', async (method) => {
    const one = open()
    one.send(`${method} / HTTP/1.1`, 'Host: localhost', 'X-Mine: secret', '', '')
    await one.answered()
    expect(one.statuses).toEqual([405])
    expect(one.text).not.toContain('secret')
    expect(one.text).not.toMatch(/access-control/i)
  })

  test.each([
    ...['/../package.json', '/%2e%2e/package.json', '/..%2fpackage.json', '/%2e%2e%2f%2e%2e%2fetc%2fpasswd'],
    ...['/.%00./main.js', '/main.js%00', '/main.js/', '//main.js', '/\\main.js', '/page.html', '/generated.js'],
  ])('responds 404 at %s', async (path) => {
    const one = open()
    one.send(`GET ${path} HTTP/1.1`, 'Host: localhost', '', '')
    await one.answered()
    expect(one.statuses).toEqual([404])
  })

  test.each([
    ['no host', []],
    ['another name', ['Host: rebound.example']],
    ['a user before the host', ['Host: localhost@rebound.example']],
    ['a list', ['Host: localhost, rebound.example']],
    ['another host first', ['Host: rebound.example', 'Host: localhost']],
    ['a name that ends with localhost', ['Host: rebound-localhost']],
    ['an invalid port', ['Host: localhost:80rebound.example']],
    ['a name that contains a loopback address', ['Host: 127.0.0.1.nip.io']],
  ])('is closed to %s', async (_, lines) => {
    for (const version of ['1.1', '1.0']) {
      const one = open()
      one.send(`GET /stream HTTP/${version}`, ...lines, '', '')
      await one.answered()
      expect([400, 403]).toContain(one.statuses[0])
    }
    expect(fleet.asked).toBe(0)
  })

  test('does not serve a request line with another host', async () => {
    const one = open()
    one.send('GET http://rebound.example/stream HTTP/1.1', 'Host: rebound.example', '', '')
    await one.answered()
    expect([403, 404]).toContain(one.statuses[0])
  })
})

describe('streams', () => {
  beforeEach(() => serve())
  const stream = ['GET /stream HTTP/1.1', 'Host: localhost', '', ''] as const

  test('serve a hundred of 200 viewers, and others after these have left', async () => {
    const viewers = Array.from({ length: 200 }, open)
    for (const viewer of viewers) viewer.send(...stream)
    await Promise.all(viewers.map((viewer) => viewer.answered()))
    expect(viewers.filter(({ statuses }) => statuses[0] === 200)).toHaveLength(100)
    expect(viewers.filter(({ statuses }) => statuses[0] === 503)).toHaveLength(100)
    for (const { socket } of viewers) socket.destroy()
    await eventually(async () => clock.pending === 0, { what: 'the end of updates' })
    expect((await ask(served.port, '/stream')).status).toBe(200)
  })

  test('that are pipelined use one slot, and release it when the connection closes', async () => {
    const one = open()
    one.send(stream.join('\r\n').repeat(20))
    await one.answered()
    // the answers after the first are never sent
    one.socket.destroy()
    await eventually(async () => clock.pending === 0, { what: 'the end of updates' })
  })

  test('that are not read end after a minute, and release their slot', async () => {
    fleet.events = Array.from({ length: 100 }, () => ({ at: 0, name: 'e'.repeat(120), text: 't'.repeat(120) }))
    const idle = open()
    idle.send(...stream)
    await once(idle.socket, 'data')
    idle.socket.pause()
    // operating systems buffer megabytes
    for (let update = 0; update < 20_000 && fleet.asked === update + 1; update++) {
      clock.advance(UPDATE_MS)
      await new Promise<void>((resolve) => setImmediate(resolve))
    }
    expect(fleet.asked).toBeLessThan(20_000)
    clock.advance(61_000)
    await eventually(async () => clock.pending === 0, { what: 'the end of a stream' })
  })
})
