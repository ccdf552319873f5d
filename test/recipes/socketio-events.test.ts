import { once } from 'node:events'
import { afterEach, beforeEach, expect, jest, test } from '@jest/globals'
import { until } from '@sluice/testkit'
import { io, type Socket } from 'socket.io-client'
import { type RunningRecipe, run } from './recipe.ts'

let recipe: RunningRecipe
let clients: Socket[]

beforeEach(async () => {
  // a fresh module for each test, so that counts start at zero
  jest.resetModules()
  clients = []
  recipe = await run('websockets.md', 'Socket.IO events')
})
afterEach(async () => {
  for (const client of clients) client.disconnect()
  await recipe.close()
})

function dial(): Socket {
  const client = io(recipe.url, { transports: ['websocket'], reconnection: false, forceNew: true })
  clients.push(client)
  return client
}

async function connected(): Promise<Socket> {
  const client = dial()
  await once(client as unknown as NodeJS.EventEmitter, 'connect')
  return client
}

test('an event over the limit reaches no handler, and its acknowledgement has the time to retry', async () => {
  const listener = await connected()
  const said: string[] = []
  listener.on('said', (text: string) => said.push(text))
  const client = await connected()
  for (let times = 0; times < 20; times++) expect(await client.emitWithAck('say', `${times}`)).toEqual({ said: true })
  const denied = await client.emitWithAck('say', 'too much')
  expect(denied).toEqual({ error: 'too many events', retryAfterMs: expect.any(Number) })
  expect(denied.retryAfterMs).toBeGreaterThan(0)
  await until(() => said.length >= 20, { what: 'what was said' })
  expect(said).toEqual(Array.from({ length: 20 }, (_, index) => `${index}`))
})

test('events may have different costs, and an event named like an object property has the default cost', async () => {
  const client = await connected()
  for (let times = 0; times < 3; times++) expect(await client.emitWithAck('search', 'x')).toEqual({ found: [] })
  client.emit('constructor')
  client.emit('__proto__')
  for (let times = 0; times < 3; times++) expect(await client.emitWithAck('say', 'x')).toEqual({ said: true })
  expect(await client.emitWithAck('say', 'x')).toMatchObject({ error: 'too many events' })
})

test('events without an acknowledgement are dropped silently, and the socket stays open', async () => {
  const client = await connected()
  for (let times = 0; times < 30; times++) client.emit('say', 'x')
  expect(await client.emitWithAck('say', 'x')).toMatchObject({ error: 'too many events' })
  expect(client.connected).toBe(true)
})

test('a client may have ten sockets open', async () => {
  for (let times = 0; times < 10; times++) await connected()
  const refused = dial()
  const [error] = await once(refused as unknown as NodeJS.EventEmitter, 'connect_error')
  expect(error).toBeInstanceOf(Error)
  expect(refused.connected).toBe(false)
})
