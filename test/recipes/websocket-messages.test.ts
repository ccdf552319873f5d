import { once } from 'node:events'
import { afterEach, beforeEach, expect, jest, test } from '@jest/globals'
import { until } from '@sluice/testkit'
import { WebSocket } from 'ws'
import { type RunningRecipe, run } from './recipe.ts'

let recipe: RunningRecipe
let clients: WebSocket[]

// a fresh module for each test, so that counts start at zero
beforeEach(async () => {
  jest.resetModules()
  clients = []
  recipe = await run('websockets.md', 'WebSocket messages')
})
afterEach(async () => {
  for (const client of clients) client.terminate()
  await recipe.close()
})

/** Messages that a client received, and the code with which its socket was closed. */
interface Heard {
  readonly client: WebSocket
  readonly messages: string[]
  code?: number
}

/** Opens a socket, or returns the status with which it was rejected. */
async function dial(): Promise<Heard | number> {
  const client = new WebSocket(recipe.url)
  clients.push(client)
  const heard: Heard = { client, messages: [] }
  client.on('message', (data) => heard.messages.push(String(data)))
  client.on('close', (code) => {
    heard.code = code
  })
  client.on('error', () => {})
  return new Promise((resolve) => {
    client.on('open', () => resolve(heard))
    client.on('unexpected-response', (_req, res) => {
      res.resume().on('end', () => resolve(res.statusCode ?? 0))
    })
  })
}

async function connected(): Promise<Heard> {
  const heard = await dial()
  if (typeof heard === 'number') throw new Error(`the handshake was answered ${heard}`)
  return heard
}

test('a client over the message limit receives a time to retry, and is closed with 1013 if it keeps sending', async () => {
  const heard = await connected()
  for (let said = 1; said <= 26; said++) heard.client.send(`message ${said}`)
  await until(() => heard.code !== undefined, { what: 'the end of the socket' })
  expect(heard.messages.slice(0, 20)).toEqual(Array.from({ length: 20 }, (_, index) => `message ${index + 1}`))
  const told = heard.messages.slice(20).map((message) => JSON.parse(message))
  expect(told).toEqual(Array(5).fill({ error: 'too many messages', retryAfterMs: expect.any(Number) }))
  expect(told[0].retryAfterMs).toBeGreaterThan(0)
  expect(told[0].retryAfterMs).toBeLessThanOrEqual(20_000)
  expect(heard.code).toBe(1013)
})

test('the sockets of one client share its messages', async () => {
  const first = await connected()
  const second = await connected()
  for (let said = 0; said < 15; said++) first.client.send('a')
  await until(() => first.messages.length === 15, { what: 'the messages of the first socket' })
  for (let said = 0; said < 6; said++) second.client.send('b')
  await until(() => second.messages.length === 6, { what: 'the messages of the second socket' })
  expect(second.messages.filter((message) => message === 'b')).toHaveLength(5)
})

test('a client may have ten sockets open, and a new one when one of them closes', async () => {
  const open: Heard[] = []
  for (let times = 0; times < 10; times++) open.push(await connected())
  expect(await dial()).toBe(429)
  open[0].client.close()
  await until(() => open[0].code !== undefined, { what: 'the end of a socket' })
  // the server may notice it a little later than the client
  let next = await dial()
  for (let times = 0; times < 10 && typeof next === 'number'; times++) next = await dial()
  expect(next).toMatchObject({ messages: [] })
})

test('handshakes are limited, too', async () => {
  for (let times = 0; times < 30; times++) {
    const { client } = await connected()
    client.close()
    await once(client, 'close')
  }
  expect(await dial()).toBe(429)
})
