import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals'
import { FakeClock } from '@sluice/testkit'
import { createGateway } from '../examples/gateway/src/index.ts'
import { root } from './repository.ts'

describe('the gateway', () => {
  let clock: FakeClock
  let server: Server
  let url: string

  beforeEach(async () => {
    clock = new FakeClock()
    server = createServer(createGateway(clock)).listen(0)
    await once(server, 'listening')
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
  const callV1 = (key: string): Promise<Response> => fetch(`${url}/v1`, { headers: { 'x-api-key': key } })

  test('says what there is', async () => {
    const listed = (await (await fetch(url)).json()) as Record<string, string>
    const routes = Object.keys(listed)
    expect(routes.map((route) => route.split('?')[0])).toEqual([
      'GET /',
      'POST /login',
      'GET /v1',
      'GET /search',
      'GET /chat',
      'GET /slow',
    ])
  })

  test('limits each address over everything, and lets it on when the client comes back as told', async () => {
    expect(await statuses(101, () => fetch(`${url}/nowhere`))).toEqual([...Array(100).fill(404), 429])
    const denied = await fetch(url)
    expect(await denied.json()).toMatchObject({ status: 429, 'violated-policies': ['address'] })
    clock.advance(Number(denied.headers.get('retry-after')) * 1_000)
    expect(await statusOf(fetch(url))).toBe(200)
  })

  test('counts wrong passwords alone', async () => {
    expect(await statuses(20, () => logIn('sesame'))).toEqual(Array(20).fill(200))
    expect(await statuses(6, () => logIn('guess'))).toEqual([401, 401, 401, 401, 401, 429])
    expect(await statusOf(logIn('sesame'))).toBe(429)
    clock.advance(30 * 60_000)
    expect(await statusOf(logIn('sesame'))).toBe(200)
  })

  test('counts a burst and a sustained limit for each API key, and knows no others', async () => {
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

  test('takes more for a search that finds more', async () => {
    const search = (query: string): Promise<Response> => fetch(`${url}/search${query}`)
    expect(await statuses(3, () => search('?results=100'))).toEqual([200, 200, 429])
    clock.advance(20_000)
    expect(await statuses(21, () => search(''))).toEqual([...Array(20).fill(200), 429])
    clock.advance(20_000)
    // what is no number of results is the default, and no way around the cost
    expect(await statuses(21, () => search('?results=-1000'))).toEqual([...Array(20).fill(200), 429])
  })

  test('streams a chat and charges the words that it sent', async () => {
    const first = await fetch(`${url}/chat?words=300`)
    expect((await first.text()).trim().split('\n')).toHaveLength(300)
    expect(await (await fetch(`${url}/chat?words=400`)).text()).toContain('word 400\n')
    const denied = await fetch(`${url}/chat`)
    // 700 used and 50 to reserve are 150 too many, at 10 a second
    expect([denied.status, denied.headers.get('retry-after')]).toEqual([429, '15'])
    clock.advance(15_000)
    expect(await statusOf(fetch(`${url}/chat`))).toBe(200)
  })

  test('runs two slow requests at once, and a third one after them', async () => {
    const asked = [1, 2, 3].map(() => fetch(`${url}/slow`))
    const all = (await Promise.all(asked.map(statusOf))).sort()
    expect(all).toEqual([200, 200, 503])
    expect(await statusOf(fetch(`${url}/slow`))).toBe(200)
  }, 15_000)
})

describe('the built gateway', () => {
  const main = join(root, 'examples/gateway/dist/index.js')
  const children: ChildProcess[] = []

  afterEach(() => {
    for (const child of children.splice(0)) child.kill('SIGKILL')
  })

  function start(port: number): { child: ChildProcess; output: () => string; ended: Promise<unknown[]> } {
    if (!existsSync(main)) throw new Error('examples/gateway is not built: npx turbo run build')
    const child = spawn(process.execPath, [main], { env: { ...process.env, PORT: String(port), NODE_OPTIONS: '' } })
    children.push(child)
    let text = ''
    for (const stream of [child.stdout, child.stderr]) stream?.setEncoding('utf8').on('data', (data) => (text += data))
    return { child, output: () => text, ended: once(child, 'exit') }
  }

  async function listening(port = 0): Promise<ReturnType<typeof start> & { url: string }> {
    const started = start(port)
    while (!/curl .*\n\n?$/.test(started.output())) {
      await Promise.race([once(started.child.stdout as NonNullable<ChildProcess['stdout']>, 'data'), started.ended])
      if (started.child.exitCode !== null) throw new Error(started.output())
    }
    const url = started.output().match(/http:\/\/localhost:\d+/)?.[0] as string
    return { ...started, url }
  }

  test.each(['SIGINT', 'SIGTERM'] as const)(
    'ends with 0 within a second of %s, though connections are open and a slow request runs',
    async (signal) => {
      const { child, ended, url } = await listening()
      await (await fetch(url)).text()
      const slow = fetch(`${url}/slow`).catch(() => 'cut off')
      // two hold both places: once the third is answered, they run
      const others = [fetch(`${url}/slow`).catch(() => 'cut off'), fetch(`${url}/slow`).catch(() => 'cut off')]
      await Promise.race([slow, ...others])
      const signalledAt = performance.now()
      child.kill(signal)
      expect(await ended).toEqual([0, null])
      expect(performance.now() - signalledAt).toBeLessThan(1_000)
    },
  )

  test('says in one line that its port is taken, and ends with 1', async () => {
    const { url } = await listening()
    const port = Number(new URL(url).port)
    const second = start(port)
    expect(await second.ended).toEqual([1, null])
    expect(second.output()).toBe(`Port ${port} is taken: set PORT to another one.\n`)
  })

  test('prints lines to paste that name its routes', async () => {
    const { output, url } = await listening()
    const lines = output()
      .split('\n')
      .filter((line) => line.includes('curl '))
    expect(lines).toHaveLength(7)
    for (const path of ['/', '/login', '/v1', '/search', '/chat', '/slow']) {
      expect(lines.some((line) => line.includes(`${url}${path}`))).toBe(true)
    }
  })
})

async function statusOf(asked: Promise<Response>): Promise<number> {
  const response = await asked
  await response.text()
  return response.status
}
