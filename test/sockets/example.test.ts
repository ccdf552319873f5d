import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals'
import { FakeClock, until } from '@sluice/testkit'
import { WebSocket } from 'ws'
import { createEcho, type Echo } from '../../examples/websocket/src/echo.ts'
import { root } from '../repository.ts'
import { endedAfterEach } from '../services/for-tests.ts'

/** Opens a socket, or returns the status with which it was rejected. */
function dial(url: string): Promise<WebSocket | number> {
  const client = new WebSocket(url)
  return new Promise((resolve, reject) => {
    client.on('error', reject)
    client.on('open', () => resolve(client))
    client.on('unexpected-response', (_req, res) => {
      res.resume().on('end', () => resolve(res.statusCode ?? 0))
    })
  })
}

describe('the WebSocket example', () => {
  let clock: FakeClock
  let echo: Echo
  let address: string
  const clients = endedAfterEach<WebSocket>((client) => client.terminate())

  beforeEach(async () => {
    clock = new FakeClock()
    echo = createEcho(clock)
    await once(echo.server.listen(0, '127.0.0.1'), 'listening')
    address = `127.0.0.1:${(echo.server.address() as AddressInfo).port}`
  })
  afterEach(async () => {
    echo.server.closeAllConnections()
    echo.server.close()
    await once(echo.server, 'close')
  })

  async function open(): Promise<WebSocket> {
    const client = await dial(`ws://${address}`)
    if (typeof client === 'number') throw new Error(`the handshake was answered ${client}`)
    clients.push(client)
    return client
  }

  test('describes its limits', async () => {
    const response = await fetch(`http://${address}`)
    expect(Object.keys((await response.json()) as object)).toEqual(['connections', 'handshakes', 'sockets', 'messages'])
    expect(response.headers.get('ratelimit')).toBe('"page";r=59;t=60')
  })

  test('echoes twenty messages, denies five, closes with 1013, and admits the client again after the stated time', async () => {
    const client = await open()
    const heard: string[] = []
    client.on('message', (data) => heard.push(String(data)))
    const closed = once(client, 'close')
    for (let said = 0; said < 26; said++) client.send('hello')
    expect((await closed)[0]).toBe(1013)
    expect(heard.filter((text) => text === 'hello')).toHaveLength(20)
    const { retryAfterMs } = JSON.parse(heard[20])
    clock.advance(retryAfterMs)
    const next = await open()
    const answer = once(next, 'message')
    next.send('again')
    expect(String((await answer)[0])).toBe('again')
  })

  test('allows five open sockets per client, and another one when one of them is closed', async () => {
    for (let times = 0; times < 5; times++) await open()
    expect(await dial(`ws://${address}`)).toBe(429)
    const [first] = clients
    first.terminate()
    await until(() => echo.sockets.clients.size === 4, { what: 'the end of a socket' })
    await open()
  })

  test('accepts thirty handshakes a minute', async () => {
    for (let times = 0; times < 30; times++) {
      const client = await open()
      client.close()
      await once(client, 'close')
      await until(() => echo.sockets.clients.size === 0, { what: 'the end of the socket' })
    }
    expect(await dial(`ws://${address}`)).toBe(429)
    clock.advance(120_000)
    await open()
  })
})

describe('the process of the WebSocket example, as it is built', () => {
  const main = join(root, 'examples/websocket/dist/index.js')
  const children = endedAfterEach<ChildProcess>((child) => child.kill('SIGKILL'))

  async function started(): Promise<{ child: ChildProcess; address: string; output: () => string }> {
    if (!existsSync(main)) throw new Error('examples/websocket is not built: npx turbo run build')
    const child = spawn(process.execPath, [main], { env: { ...process.env, PORT: '0', NODE_OPTIONS: '' } })
    children.push(child)
    let text = ''
    for (const stream of [child.stdout, child.stderr]) stream?.setEncoding('utf8').on('data', (data) => (text += data))
    await until(() => text.includes('curl') || child.exitCode !== null, { what: 'the first line', timeoutMs: 20_000 })
    const address = /localhost:\d+/.exec(text)?.[0]
    if (!address) throw new Error(text)
    return { child, address, output: () => text }
  }

  test('limits real clients, and exits with code 0 even with an open socket', async () => {
    const { child, address, output } = await started()
    const open = await dial(`ws://${address}`)
    for (let times = 0; times < 4; times++) await dial(`ws://${address}`)
    expect(await dial(`ws://${address}`)).toBe(429)
    const closed = once(open as WebSocket, 'close')
    const ended = once(child, 'exit')
    child.kill('SIGTERM')
    expect((await closed)[0]).toBe(1001)
    expect(await ended).toEqual([0, null])
    expect(output().split('\n')).toHaveLength(2)
  })
})
