import { EventEmitter, once } from 'node:events'
import { createServer as createHttpServer } from 'node:http'
import { connect as connectHttp2, createServer as createHttp2Server, createSecureServer } from 'node:http2'
import { createServer as createHttpsServer } from 'node:https'
import { type AddressInfo, connect, createServer as createNetServer, type Server, type Socket } from 'node:net'
import { connect as connectTls, createServer as createTlsServer } from 'node:tls'
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals'
import { type ConnectionLimitOptions, createInflightLimiter, guardContinue, limitConnections } from '@sluice/node-http'
import { FakeClock, until, Warnings, Watcher } from '@sluice/testkit'
import { RawClient } from '../../leaks/raw-client.ts'
import { endedAfterEach } from '../../services/for-tests.ts'
import { tlsClient, tlsServer } from '../../sockets/tls-without-certificates.ts'

const warnings = new Warnings()
const clients = endedAfterEach<{ destroy(): void }>((client) => client.destroy())
const thrown: unknown[] = []
const hear = (error: unknown): number => thrown.push(error)
let watcher: Watcher
let server: Server

beforeEach(() => {
  warnings.listen()
  watcher = new Watcher()
  process.on('unhandledRejection', hear)
})
afterEach(async () => {
  server.close()
  await once(server, 'close')
  await until(() => watcher.held === 0, { what: 'all places to come back' })
  warnings.stop()
  process.off('unhandledRejection', hear)
  expect(thrown.splice(0)).toEqual([])
  expect(watcher.fewestHeld).toBe(0)
})

/** Answers that arrive when the test releases them. */
class Answers {
  readonly #waiting: (() => void)[] = []
  #open = false

  get waiting(): number {
    return this.#waiting.length
  }

  later = <T>(make: () => T): Promise<T> =>
    new Promise((resolve) => {
      if (this.#open) setImmediate(() => resolve(make()))
      else this.#waiting.push(() => resolve(make()))
    })

  /** Releases the oldest answer. */
  one(): void {
    this.#waiting.shift()?.()
  }

  open(): void {
    this.#open = true
    for (const come of this.#waiting.splice(0)) come()
  }
}

type Later = (answers: Answers) => Partial<ConnectionLimitOptions>

/** Options that can be asynchronous. */
const LATER: Readonly<Record<string, Later>> = {
  key: ({ later }) => ({ key: () => later(() => 'all') }),
  skip: ({ later }) => ({ skip: () => later(() => false) }),
  backend: ({ later }) => {
    const places = createInflightLimiter({ limit: 1 })
    return { backend: { acquire: () => later(() => places.acquire() ?? { allowed: false, retryAfterMs: 1_000 }) } }
  },
}

interface Kind {
  readonly make: (hear: () => void) => Server
  /** A client that sends at once, and records what it received from the server behind the cap. */
  readonly speak: (port: number) => { readonly heard: () => string; readonly closed: () => boolean; destroy(): void }
}

const GET = 'GET / HTTP/1.1\r\nHost: a\r\n\r\n'

function raw(socket: Socket, first: string): ReturnType<Kind['speak']> {
  const client = new RawClient(socket)
  client.send(first)
  return { heard: () => client.heard, closed: () => client.socket.closed, destroy: () => client.leave() }
}

function overHttp2(port: number, options: object, scheme: string): ReturnType<Kind['speak']> {
  let heard = ''
  const session = connectHttp2(`${scheme}://127.0.0.1:${port}`, options)
  session.on('error', () => {})
  const stream = session.request({ ':path': '/' })
  stream.on('error', () => {}).setEncoding('utf8')
  stream.on('data', (text: string) => {
    heard += text
  })
  return { heard: () => heard, closed: () => session.closed || session.destroyed, destroy: () => session.destroy() }
}

const KINDS: Readonly<Record<string, Kind>> = {
  net: {
    make: (hear) =>
      createNetServer((socket) => {
        hear()
        socket.on('error', () => {}).once('data', () => socket.write('hello'))
      }),
    speak: (port) => raw(connect(port, '127.0.0.1'), 'hi'),
  },
  tls: {
    make: (hear) =>
      createTlsServer(tlsServer, (socket) => {
        hear()
        socket.on('error', () => {}).once('data', () => socket.write('hello'))
      }).on('tlsClientError', hear),
    speak: (port) => raw(connectTls({ ...tlsClient, port }), 'hi'),
  },
  http: {
    make: (hear) => createHttpServer((_req, res) => res.end('hello')).on('request', hear),
    speak: (port) => raw(connect(port, '127.0.0.1'), GET),
  },
  https: {
    make: (hear) =>
      createHttpsServer(tlsServer, (_req, res) => res.end('hello'))
        .on('secureConnection', hear)
        .on('request', hear),
    speak: (port) => raw(connectTls({ ...tlsClient, port }), GET),
  },
  http2: {
    make: (hear) => createHttp2Server((_req, res) => res.end('hello')).on('session', hear),
    speak: (port) => overHttp2(port, {}, 'http'),
  },
  'http2 over TLS': {
    make: (hear) =>
      createSecureServer({ ...tlsServer, allowHTTP1: true }, (_req, res) => res.end('hello'))
        .on('secureConnection', hear)
        .on('session', hear),
    speak: (port) => overHttp2(port, { ...tlsClient, ALPNProtocols: ['h2'] }, 'https'),
  },
}

async function limited(made: Server, options: ConnectionLimitOptions): Promise<number> {
  server = made
  limitConnections(server, { observers: [watcher], ...options })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  return (server.address() as AddressInfo).port
}

function connections(): () => number {
  let known = Number.NaN
  return () => {
    server.getConnections((_error, count) => {
      known = count
    })
    return known
  }
}

const cases = Object.entries(KINDS).flatMap(([kind, how]) =>
  Object.entries(LATER).map(([what, later]) => [kind, what, how, later] as const),
)

describe.each(cases)('a server of node:%s whose cap has an asynchronous %s', (_kind, _what, { make, speak }, later) => {
  test('sends nothing before the answer arrives, and serves one client of twenty', async () => {
    const answers = new Answers()
    let begun = 0
    const port = await limited(
      make(() => begun++),
      { limit: 1, ...later(answers) },
    )
    const told: unknown[] = []
    server.on('connection', (socket) => told.push(socket))
    const spoken = Array.from({ length: 20 }, () => speak(port))
    clients.push(...spoken)
    await until(() => answers.waiting === 20, { what: 'all twenty to wait' })
    // enough time for the server to have read everything
    for (let turn = 0; turn < 20; turn++) await new Promise(setImmediate)
    expect([begun, told.length, ...spoken.map(({ heard }) => heard())]).toEqual([0, 0, ...Array(20).fill('')])
    answers.open()
    await until(() => spoken.filter(({ closed }) => closed()).length === 19, { what: 'nineteen to be closed' })
    const [served] = spoken.filter(({ closed }) => !closed())
    await until(() => served.heard().includes('hello'), { what: 'the one to be served' })
    expect(spoken.filter(({ heard }) => heard() !== '')).toEqual([served])
    expect([told.length, watcher.acquired, watcher.denied]).toEqual([1, 1, 19])
    served.destroy()
    await until(() => watcher.held === 0, { what: 'the place to come back' })
    const next = speak(port)
    clients.push(next)
    await until(() => next.heard().includes('hello'), { what: 'the next one to be served' })
  })
})

describe('data that a client sends while its connection waits', () => {
  test('is not lost: an upload, byte for byte, larger than any buffer', async () => {
    const answers = new Answers()
    const { body, uploads, http } = uploadServer()
    const port = await limited(http, { limit: 1, key: () => answers.later(() => 'all') })
    const client = await RawClient.to(port)
    clients.push(client.socket)
    client.send(`POST / HTTP/1.1\r\nHost: a\r\nContent-Length: ${body.length}\r\n\r\n`)
    client.send(body)
    await until(() => answers.waiting === 1, { what: 'it to wait' })
    for (let turn = 0; turn < 50; turn++) await new Promise(setImmediate)
    answers.open()
    await client.hears('taken')
    expect(uploads[0].equals(body)).toBe(true)
    client.send(GET)
    await client.hears('taken', 2)
    http.closeAllConnections()
    await until(() => watcher.held === 0, { what: 'the place to come back' })
  })

  test('is not lost: pipelined requests and the end of the stream after them', async () => {
    const answers = new Answers()
    const urls: unknown[] = []
    const http = createHttpServer((req, res) => {
      urls.push(req.url)
      res.end('hello')
    })
    const port = await limited(http, { limit: 1, key: () => answers.later(() => 'all') })
    const client = await RawClient.to(port)
    clients.push(client.socket)
    client.socket.end('GET /1 HTTP/1.1\r\nHost: a\r\n\r\nGET /2 HTTP/1.1\r\nHost: a\r\n\r\n')
    await until(() => answers.waiting === 1, { what: 'it to wait' })
    for (let turn = 0; turn < 20; turn++) await new Promise(setImmediate)
    answers.open()
    await client.closed()
    expect(urls[0]).toBe('/1')
    expect(client.heard).toMatch(/hello/)
    await until(() => watcher.held === 0, { what: 'the place to come back' })
  })

  test('is available to a listener that reads later, as without a cap', async () => {
    const answers = new Answers()
    const sockets: Socket[] = []
    const port = await limited(
      createNetServer((socket) => void sockets.push(socket.on('error', () => {}))),
      { limit: 1, key: () => answers.later(() => 'all') },
    )
    const client = await RawClient.to(port)
    clients.push(client.socket)
    client.send('early')
    await until(() => answers.waiting === 1, { what: 'it to wait' })
    answers.open()
    await until(() => sockets.length === 1, { what: 'the listener to be told' })
    client.send(', late')
    for (let turn = 0; turn < 20; turn++) await new Promise(setImmediate)
    const [socket] = sockets
    expect([socket.readableFlowing, socket.listenerCount('error'), socket.listenerCount('end')]).toEqual([null, 1, 1])
    let heard = ''
    socket.setEncoding('utf8').on('data', (text: string) => {
      heard += text
    })
    await until(() => heard === 'early, late', { what: 'all that was said' })
  })
})

test('an upload with Expect: 100-continue that does not wait for the answer arrives complete with an asynchronous key', async () => {
  const answers = new Answers()
  const { body, uploads, http } = uploadServer()
  const guard = guardContinue(http, {
    inflightLimit: { limit: 1, key: () => answers.later(() => 'all'), observers: [watcher] },
  })
  server = http
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const client = await RawClient.to((server.address() as AddressInfo).port)
  clients.push(client.socket)
  client.send(`POST / HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: ${body.length}\r\n\r\n`)
  client.send(body)
  await until(() => answers.waiting === 1, { what: 'it to wait' })
  for (let turn = 0; turn < 50; turn++) await new Promise(setImmediate)
  expect([client.heard, uploads.length]).toEqual(['', 0])
  answers.open()
  await client.hears('taken')
  expect(uploads[0].equals(body)).toBe(true)
  guard.close()
  client.leave()
})

describe('a client that disconnects while its connection waits', () => {
  const leaving: readonly (readonly [string, string, (client: RawClient) => void])[] = [
    ['resets', '', (client) => void client.socket.resetAndDestroy()],
    ['ends', '', (client) => void client.socket.end()],
    ['resets in the middle of a request', GET, (client) => void client.socket.resetAndDestroy()],
  ]

  test.each(leaving)(
    '%s: is not passed to the server, and its permit goes to the next client',
    async (_how, first, leave) => {
      const answers = new Answers()
      let told = 0
      const http = createHttpServer((_req, res) => res.end('hello')).on('connection', () => told++)
      const port = await limited(http, { limit: 1, ...LATER.backend(answers) })
      const gone = await RawClient.to(port)
      await new Promise<void>((sent) => gone.socket.write(first, () => sent()))
      await until(() => answers.waiting === 1, { what: 'it to wait' })
      for (let turn = 0; turn < 20; turn++) await new Promise(setImmediate)
      const open = connections()
      leave(gone)
      await until(() => open() === 0, { what: 'the server to see it' })
      answers.one()
      await until(() => watcher.acquired === 1 && watcher.held === 0, { what: 'the place to come back' })
      expect(told).toBe(0)
      answers.open()
      const next = await RawClient.to(port)
      clients.push(next.socket)
      next.send(GET)
      await next.hears('hello')
      next.leave()
      await until(() => watcher.held === 0, { what: 'the place to come back' })
    },
  )
})

describe('a wait', () => {
  test('is limited: a connection whose answer is still missing is closed after five seconds', async () => {
    const clock = new FakeClock()
    const answers = new Answers()
    const port = await limited(createNetServer(), { limit: 1, clock, ...LATER.backend(answers) })
    const client = await RawClient.to(port)
    clients.push(client.socket)
    await until(() => answers.waiting === 1, { what: 'it to wait' })
    clock.advance(4_999)
    await new Promise(setImmediate)
    expect([client.socket.closed, clock.pending]).toEqual([false, 1])
    clock.advance(1)
    await client.closed()
    expect([client.heard, clock.pending, warnings.codes]).toEqual(['', 0, ['SLUICE_BACKEND_FAILED']])
    expect(warnings.texts[0]).toContain("limiter 'connections': a connection was closed")
    // a permit that arrives later is released at once
    answers.open()
    await until(() => watcher.acquired === 1 && watcher.held === 0, { what: 'the place to come back' })
  })

  test('of one connection does not delay other connections', async () => {
    const answers = new Answers()
    const key = (socket: Socket) => (socket.remoteAddress === '127.0.0.1' ? answers.later(() => 'slow') : 'quick')
    const port = await limited(
      createHttpServer((_req, res) => res.end('hello')),
      { limit: 1, key },
    )
    const slow = await RawClient.to(port)
    clients.push(slow.socket)
    await until(() => answers.waiting === 1, { what: 'it to wait' })
    const quick = new RawClient(connect({ port, host: '127.0.0.1', localAddress: '127.0.0.2' }))
    clients.push(quick.socket)
    quick.send(GET)
    await quick.hears('hello')
    quick.leave()
    await until(() => watcher.held === 0, { what: 'the place to come back' })
  })

  test('that ends with a throwing listener affects only that connection', async () => {
    let throws = true
    const net = createNetServer((socket) => {
      if (throws) throw new Error('no room in the list')
      socket.on('error', () => {}).end('hello')
    })
    const port = await limited(net, { limit: 1, key: async () => 'all' })
    const first = await RawClient.to(port)
    clients.push(first.socket)
    await first.closed()
    await until(() => watcher.acquired === 1 && watcher.held === 0, { what: 'the place to come back' })
    expect(warnings.codes).toEqual(['SLUICE_HOOK_FAILED'])
    throws = false
    const second = await RawClient.to(port)
    clients.push(second.socket)
    await second.hears('hello')
    second.leave()
    await until(() => watcher.held === 0, { what: 'the place to come back' })
  })
})

describe('several caps', () => {
  test('are checked in the order in which they were added, and earlier permits are released if a later cap denies', async () => {
    const asked: string[] = []
    const answers = new Answers()
    const ask = (name: string, later: boolean) => (): string | Promise<string> => {
      asked.push(name)
      return later ? answers.later(() => name) : name
    }
    const [first, third] = [new Watcher(), new Watcher()]
    const port = await limited(
      createHttpServer((_req, res) => res.end('hello')),
      { name: 'first', limit: 9, key: ask('first', true), observers: [first] },
    )
    limitConnections(server, { name: 'second', limit: 1, key: ask('second', true), observers: [watcher] })
    limitConnections(server, { name: 'third', limit: 9, key: ask('third', false), observers: [third] })
    const [one, two] = [await RawClient.to(port), await RawClient.to(port)]
    clients.push(one.socket, two.socket)
    for (const client of [one, two]) client.send(GET)
    answers.open()
    await until(() => one.socket.closed || two.socket.closed, { what: 'one to be closed' })
    const [served] = [one, two].filter(({ socket }) => !socket.closed)
    await served.hears('hello')
    expect(asked.slice().sort()).toEqual(['first', 'first', 'second', 'second', 'third'])
    expect([asked.indexOf('first'), asked.indexOf('second') < asked.indexOf('third')]).toEqual([0, true])
    await until(() => first.held === 1, { what: 'the place of the refused one to come back' })
    expect([first.acquired, watcher.acquired, watcher.denied, third.acquired]).toEqual([2, 1, 1, 1])
    served.leave()
    await until(() => first.held + watcher.held + third.held === 0, { what: 'all places to come back' })
  })

  test('restore the server once all are closed, and keep wrappers that others added on top', async () => {
    const net = createNetServer((socket) => void socket.on('error', () => {}).resume())
    const port = await limited(net, { limit: 9 })
    const [second, third] = [
      limitConnections(net, { limit: 9, name: 'b' }),
      limitConnections(net, { limit: 9, name: 'c' }),
    ]
    expect(net.emit).not.toBe(EventEmitter.prototype.emit)
    second.close()
    second.close()
    expect(net.emit).not.toBe(EventEmitter.prototype.emit)
    const seen: unknown[] = []
    const { emit } = net
    net.emit = function over(this: Server, event: string, ...args: unknown[]): boolean {
      seen.push(event)
      return Reflect.apply(emit, this, [event, ...args])
    } as typeof net.emit
    third.close()
    clients.push((await RawClient.to(port)).socket)
    await until(() => watcher.acquired === 1, { what: 'the first cap to count' })
    expect(seen).toContain('connection')
    expect(third.limiter.count()).toBe(0)
  })

  test('are removed when all are closed: the server has its original emit again', async () => {
    server = createNetServer()
    const limits = ['a', 'b'].map((name) => limitConnections(server, { limit: 1, name }))
    for (const limit of limits) limit.close()
    expect([server.emit, Object.keys(server).includes('emit')]).toEqual([EventEmitter.prototype.emit, false])
    await once(server.listen(0, '127.0.0.1'), 'listening')
  })
})

/** A server that stores uploads, and a body larger than any buffer. */
function uploadServer() {
  const body = Buffer.alloc(1_000_000, 'sluice')
  const uploads: Buffer[] = []
  const http = createHttpServer(async (req, res) => {
    const chunks: Buffer[] = []
    for await (const chunk of req) chunks.push(chunk)
    uploads.push(Buffer.concat(chunks))
    res.end('taken')
  })
  return { body, uploads, http }
}
