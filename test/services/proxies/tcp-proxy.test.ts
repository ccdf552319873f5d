import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from '@jest/globals'
import { seededRandom, until } from '@sluice/testkit'
import { type RedisServer, startRedis } from '../redis/redis-server.ts'
import { startProxy, type TcpProxy } from './tcp-proxy.ts'

let redis: RedisServer
let proxy: TcpProxy
const sockets: Socket[] = []

beforeAll(async () => {
  redis = await startRedis()
})

beforeEach(async () => {
  const random = seededRandom(1)
  proxy = await startProxy(redis.port, { random: () => random.next() })
})

afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy()
  await proxy.stop()
})

afterAll(() => redis.stop())

interface Talk {
  readonly socket: Socket
  readonly received: () => string
  readonly ended: () => boolean
  readonly error: () => string | undefined
}

async function talk(): Promise<Talk> {
  const socket = connect({ port: proxy.port, host: '127.0.0.1', allowHalfOpen: true })
  sockets.push(socket)
  let received = ''
  let ended = false
  let error: string | undefined
  socket.setEncoding('utf8').on('data', (text: string) => {
    received += text
  })
  socket.on('end', () => {
    ended = true
  })
  socket.on('error', (reason: NodeJS.ErrnoException) => {
    error = reason.code
  })
  await once(socket, 'connect')
  return { socket, received: () => received, ended: () => ended, error: () => error }
}

async function pong({ socket, received }: Talk): Promise<number> {
  const sentAt = performance.now()
  const before = received().length
  socket.write('PING\r\n')
  await until(() => received().length > before)
  return performance.now() - sentAt
}

test('carries data in both directions', async () => {
  const client = await talk()
  await pong(client)
  expect(client.received()).toBe('+PONG\r\n')
  expect({ connections: proxy.connections, open: proxy.open }).toEqual({ connections: 1, open: 1 })
})

test('delays data in both directions, and keeps its order', async () => {
  const client = await talk()
  proxy.degrade({ delayMs: 25 })
  expect(await pong(client)).toBeGreaterThanOrEqual(48)
  const numbers = Array.from({ length: 200 }, (_, index) => index)
  for (const number of numbers) {
    // each with a delay of its own
    proxy.degrade({ delayMs: number % 7 })
    client.socket.write(`ECHO ${number}\r\n`)
    if (number % 20 === 0) await pong(client)
  }
  const echoed = () => [...client.received().matchAll(/\$\d+\r\n(\d+)/g)].map(([, text]) => Number(text))
  await until(() => echoed().length === numbers.length)
  expect(echoed()).toEqual(numbers)
})

test('delivers lost data when it is retransmitted', async () => {
  const client = await talk()
  proxy.degrade({ lossShare: 1 })
  expect(await pong(client)).toBeGreaterThanOrEqual(398)
  proxy.degrade({ lossShare: 0.3 })
  const rounds = await Array.from({ length: 8 }).reduce<Promise<number[]>>(
    async (before) => [...(await before), await pong(client)],
    Promise.resolve([]),
  )
  expect(rounds.some((ms) => ms > 198)).toBe(true)
  expect(rounds.some((ms) => ms < 198)).toBe(true)
})

test('cuts every connection, by a reset or in order', async () => {
  const [reset, orderly] = [await talk(), await talk()]
  await pong(reset)
  proxy.cut()
  await until(() => reset.error() === 'ECONNRESET' && orderly.error() === 'ECONNRESET')
  const later = await talk()
  await pong(later)
  proxy.cut('end')
  await until(() => later.ended())
  expect(later.error()).toBeUndefined()
})

test('keeps connections silent that a black hole affected, and serves new ones after it is healed', async () => {
  const before = await talk()
  await pong(before)
  proxy.blackHole()
  const during = await talk()
  for (const { socket } of [before, during]) socket.write('PING\r\n')
  proxy.heal()
  const after = await talk()
  await pong(after)
  for (const { socket } of [before, during]) socket.write('PING\r\n')
  await pong(after)
  expect([before, during].map((client) => [client.received(), client.ended(), client.error()])).toEqual([
    ['+PONG\r\n', false, undefined],
    ['', false, undefined],
  ])
})

test('lets a server receive data after its own side is closed', async () => {
  const client = await talk()
  await pong(client)
  proxy.halfClose()
  await until(() => client.ended())
  client.socket.write('SET half closed\r\n')
  const other = redis.client()
  let value: string | null = null
  await until(() => {
    void other.get('half').then((found) => {
      value = found
    })
    return value === 'closed'
  })
})

test('refuses new connections until it accepts again', async () => {
  const early = await talk()
  proxy.refuse()
  await expect(talk()).rejects.toThrow('ECONNREFUSED')
  await pong(early)
  await proxy.accept()
  await pong(await talk())
})

test('closes connections when their server is gone', async () => {
  const own = await startRedis()
  const path = await startProxy(own.port)
  const client = own.client({ port: path.port })
  await client.ping()
  const closed = once(client, 'close')
  await own.kill()
  await closed
  await own.stop()
  await path.stop()
  expect(path.open).toBe(0)
})
