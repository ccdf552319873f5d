import { once } from 'node:events'
import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, describe, expect, test } from '@jest/globals'
import { FakeClock, until } from '@sluice/testkit'
import { createCatalog } from '../../examples/mcp/src/catalog.ts'
import { createHttpServer } from '../../examples/mcp/src/http.ts'
import { call } from '../mcp/connected.ts'
import type { TestServer } from '../mcp/sdk.ts'
import { sdk2, sdk2Latest } from '../mcp/sdk2.ts'

describe.each([sdk2, sdk2Latest])('the example of MCP with $name', (sdk) => {
  const connect = (server: unknown) => sdk.connect(server as TestServer)
  let http: Server | undefined

  afterEach(async () => {
    http?.closeAllConnections()
    http?.close()
    if (http?.listening) await once(http, 'close')
    http = undefined
  })

  test('limits searches, and admits them again after the time that the denial names', async () => {
    const clock = new FakeClock()
    const client = await connect(createCatalog({ clock })())
    for (let time = 0; time < 5; time++) {
      expect(await call(client, 'search', { text: 'tea' })).toBe('green tea\nblack tea')
    }
    expect(await call(client, 'search', { text: 'tea' })).toBe(
      "denied: Rate limit 'search' exceeded for tool 'search': 5 per 10 seconds. Try again in 10 seconds.",
    )
    clock.advance(10_000)
    expect(await call(client, 'search', { text: 'tea' })).toBe('green tea\nblack tea')
  })

  test('charges descriptions by the words that were written', async () => {
    const client = await connect(createCatalog({ clock: new FakeClock() })())
    const describeTea = (words: number) => call(client, 'describe', { name: 'green tea', words })
    // reserves 150, and writes 100
    for (let time = 0; time < 2; time++) expect((await describeTea(150)).split(' ')).toHaveLength(100)
    expect(await describeTea(150)).toMatch(
      /^denied: Rate limit 'words' exceeded .*: 300 words per minute. Try again in 10 s/,
    )
    expect((await describeTea(90)).split(' ')).toHaveLength(90)
    expect(await describeTea(400)).toMatch(/never succeed/)
  })

  test('writes two reports at a time', async () => {
    const running: (() => void)[] = []
    const report = (): Promise<void> => new Promise((resolve) => running.push(resolve))
    const client = await connect(createCatalog({ clock: new FakeClock(), report })())
    const reports = [call(client, 'report'), call(client, 'report')]
    await until(() => running.length === 2)
    expect(await call(client, 'report')).toMatch(/^denied: Limit of concurrent calls 'reports' .*: at most 2 at a time/)
    for (const finish of running) finish()
    expect(await Promise.all(reports)).toEqual(['4 goods', '4 goods'])
  })

  test('limits each access token over HTTP', async () => {
    http = createHttpServer(createCatalog({ clock: new FakeClock() }))
    await once(http.listen(0, '127.0.0.1'), 'listening')
    const url = `http://127.0.0.1:${(http.address() as AddressInfo).port}/mcp`
    expect((await fetch(url)).status).toBe(401)
    const clientOf = (token: string) => sdk.connectToUrl(url, { authorization: `Bearer ${token}` })
    const [anna, bert] = [await clientOf('anna-token'), await clientOf('bert-token')]
    for (let time = 0; time < 5; time++) await call(anna, 'search', { text: 'tea' })
    expect(await call(anna, 'search', { text: 'tea' })).toMatch(/^denied/)
    expect(await call(bert, 'search', { text: 'tea' })).toBe('green tea\nblack tea')
    await Promise.all([anna.close(), bert.close()])
  })
})
