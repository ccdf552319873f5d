import { once } from 'node:events'
import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals'
import { FakeClock } from '@sluice/testkit'
import { sites } from '../examples/gateway/src/index.ts'

describe.each(Object.entries(sites))('the gateway on %s', (_framework, site) => {
  let clock: FakeClock
  let server: Server
  let url: string

  beforeEach(async () => {
    clock = new FakeClock()
    server = await site(clock)
    await once(server.listen(0, '127.0.0.1'), 'listening')
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  })

  afterEach(async () => {
    server.closeAllConnections()
    server.close()
    await once(server, 'close')
  })

  const statuses = async (times: number, ask: () => Promise<Response>): Promise<number[]> => {
    const seen: number[] = []
    for (let asked = 0; asked < times; asked++) seen.push(await statusOf(ask()))
    return seen
  }
  const logIn = (password: string): Promise<Response> =>
    fetch(`${url}/login`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ password }),
    })
  const wordsLeft = async (): Promise<number> => {
    const response = await fetch(`${url}/chat?words=1`)
    await response.text()
    return Number(/"chat";r=(\d+)/.exec(response.headers.get('ratelimit') ?? '')?.[1])
  }
  const callV1 = (key: string): Promise<Response> => fetch(`${url}/v1`, { headers: { 'x-api-key': key } })

  test('lists its routes', async () => {
    const listed = (await (await fetch(url)).json()) as Record<string, string>
    const routes = Object.keys(listed)
    expect(routes.map((route) => route.split('?')[0])).toEqual([
      'GET /',
      'POST /login',
      'GET /v1',
      'GET /search',
      'GET /chat',
      'GET /slow',
      'GET /client',
    ])
  })

  test('limits each address across all routes, and admits it again after the Retry-After time', async () => {
    expect(await statuses(101, () => fetch(`${url}/nowhere`))).toEqual([...Array(100).fill(404), 429])
    const denied = await fetch(url)
    expect(await denied.json()).toMatchObject({ status: 429, 'violated-policies': ['address'] })
    clock.advance(Number(denied.headers.get('retry-after')) * 1_000)
    expect(await statusOf(fetch(url))).toBe(200)
  })

  test('counts only wrong passwords', async () => {
    expect(await statuses(20, () => logIn('sesame'))).toEqual(Array(20).fill(200))
    expect(await statuses(6, () => logIn('guess'))).toEqual([401, 401, 401, 401, 401, 429])
    expect(await statusOf(logIn('sesame'))).toBe(429)
    clock.advance(30 * 60_000)
    expect(await statusOf(logIn('sesame'))).toBe(200)
  })

  test('counts a burst and a sustained limit for each API key, and rejects unknown keys', async () => {
    expect(await statuses(11, () => callV1('demo'))).toEqual([...Array(10).fill(200), 429])
    expect(await statusOf(callV1('demo-2'))).toBe(200)
    expect(await statusOf(callV1('made-up'))).toBe(401)
    for (let second = 0; second < 2; second++) {
      clock.advance(2_000)
      expect(await statuses(10, () => callV1('demo'))).toEqual(Array(10).fill(200))
    }
    clock.advance(2_000)
    const denied = await callV1('demo')
    expect(await denied.json()).toMatchObject({ 'violated-policies': ['sustained'] })
    clock.advance(Number(denied.headers.get('retry-after')) * 1_000)
    expect(await statusOf(callV1('demo'))).toBe(200)
  })

  test('charges more for a search with more results', async () => {
    const search = (query: string): Promise<Response> => fetch(`${url}/search${query}`)
    expect(await statuses(3, () => search('?results=100'))).toEqual([200, 200, 429])
    clock.advance(20_000)
    expect(await statuses(21, () => search(''))).toEqual([...Array(20).fill(200), 429])
    clock.advance(20_000)
    // an invalid number of results means the default, so it cannot avoid the cost
    expect(await statuses(21, () => search('?results=-1000'))).toEqual([...Array(20).fill(200), 429])
  })

  test('streams a chat and charges the words that it sent', async () => {
    const first = await fetch(`${url}/chat?words=300`)
    expect((await first.text()).trim().split('\n')).toHaveLength(300)
    expect(await (await fetch(`${url}/chat?words=400`)).text()).toContain('word 400\n')
    const denied = await fetch(`${url}/chat`)
    // 700 used plus 50 to reserve exceed the limit by 150, at 10 per second
    expect([denied.status, denied.headers.get('retry-after')]).toEqual([429, '15'])
    clock.advance(15_000)
    expect(await statusOf(fetch(`${url}/chat`))).toBe(200)
  })

  test('charges a client that disconnects only for the words that were sent', async () => {
    const { body } = await fetch(`${url}/chat?words=500`)
    const reader = (body as NonNullable<typeof body>).getReader()
    await reader.read()
    await reader.cancel()
    // 50 are reserved for each response as well: until it is settled the value is 500, and never more
    let left = 0
    while (!(left > 530)) left = await wordsLeft()
  })
})

test('each gateway runs two slow requests at once, and a third one after them', async () => {
  const servers = await Promise.all(Object.values(sites).map((site) => site()))
  const seen = servers.map(async (server) => {
    await once(server.listen(0, '127.0.0.1'), 'listening')
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/slow`
    const all = await Promise.all([fetch(url), fetch(url), fetch(url)].map(statusOf))
    return [...all.sort(), await statusOf(fetch(url))]
  })
  expect(await Promise.all(seen)).toEqual(Array(servers.length).fill([200, 200, 503, 200]))
  for (const server of servers) server.close().closeAllConnections()
}, 15_000)

async function statusOf(asked: Promise<Response>): Promise<number> {
  const response = await asked
  await response.text()
  return response.status
}
