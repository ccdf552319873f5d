import { afterEach, beforeEach, expect, jest, test } from '@jest/globals'
import { until } from '@sluice/testkit'
import { RawClient } from '../leaks/raw-client.ts'
import { type RunningRecipe, run } from './recipe.ts'

const LIMIT = 20_000
const RESERVED = 500

let recipe: RunningRecipe

beforeEach(async () => {
  // a fresh module for each test, so that counts start at zero
  jest.resetModules()
  recipe = await run('llm-streams.md', 'A stream with a token budget')
})
afterEach(() => recipe.close())

function asking(user: string): string {
  const body = '{"prompt":"hello"}'
  const head = `POST /chat HTTP/1.1\r\nHost: a\r\nX-User: ${user}\r\nContent-Type: application/json\r\n`
  return `${head}Content-Length: ${body.length}\r\n\r\n${body}`
}

/** A client that has received the head of its stream and `tokens` tokens. */
async function streaming(user: string, tokens = 0): Promise<RawClient> {
  const client = await RawClient.to(recipe.port)
  client.send(asking(user))
  await until(() => tokensIn(client) >= tokens && client.heard.includes('\r\n\r\n'), { what: `${tokens} tokens` })
  return client
}

function tokensIn({ heard }: RawClient): number {
  const body = heard.split('\r\n\r\n').slice(1).join('')
  // chunked encoding: a line with the size, a line with the token
  return body
    .split('\r\n')
    .filter((_line, index) => index % 2 === 1)
    .join('').length
}

function leftIn({ heard }: RawClient): number {
  return Number(/\r\nRateLimit: "tokens";r=(\d+)/.exec(heard)?.[1])
}

/** Returns the user's remaining units, without the reservation of the request that reads them. */
async function left(user: string): Promise<number> {
  const client = await streaming(user)
  const units = leftIn(client) + RESERVED
  client.leave()
  return units
}

/** Returns the same as `left`, once no reservation is open. */
async function settled(user: string): Promise<number> {
  for (let times = 0; times < 1_000; times++) {
    const units = await left(user)
    if (units > LIMIT - RESERVED) return units
  }
  throw new Error('a reservation was never settled')
}

test('a client that disconnects during a stream is charged only for the tokens sent', async () => {
  const client = await streaming('ada', 60)
  expect(leftIn(client)).toBe(LIMIT - RESERVED)
  const heard = tokensIn(client)
  client.socket.resetAndDestroy()
  const units = await settled('ada')
  const used = LIMIT - units
  expect(used).toBeGreaterThanOrEqual(heard - 5)
  expect(used).toBeLessThan(RESERVED)
})

test('a client that reads to the end is charged for all tokens, even above the reservation', async () => {
  const client = await streaming('bob', 1)
  await until(() => client.heard.endsWith('\r\n0\r\n\r\n'), { what: 'the end of the stream', timeoutMs: 20_000 })
  expect(tokensIn(client)).toBe(1_000)
  const used = LIMIT - (await left('bob'))
  // units drain during the response, 5.6 per second
  expect(used).toBeLessThanOrEqual(1_000)
  expect(used).toBeGreaterThan(880)
  client.leave()
})

test('two streams of one user run concurrently; a third is denied and leaves no reservation', async () => {
  const first = await streaming('cyd', 1)
  const second = await streaming('cyd', 1)
  const third = await RawClient.to(recipe.port)
  third.send(asking('cyd'))
  await third.hears('"violated-policies":["streams"]')
  expect(third.heard).toMatch(/^HTTP\/1.1 429/)
  for (const client of [first, second, third]) client.leave()
  expect(await settled('cyd')).toBeGreaterThan(LIMIT - RESERVED)
})
