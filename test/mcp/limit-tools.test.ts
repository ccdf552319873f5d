import { afterEach, describe, expect, test } from '@jest/globals'
import { type LimitToolsOptions, limitOverrides, limitTools, type ToolLimits } from '@sluice/mcp'
import { FakeClock, Watcher } from '@sluice/testkit'
import { addEcho, allowed, call, connectLimited, sdks } from './connected.ts'
import type { TestClient, TestServer } from './sdk.ts'

describe.each(sdks)('$name', (sdk) => {
  let clock = new FakeClock()
  let limits: ToolLimits

  /** Returns a client of a server with the tools `search` and `read`. */
  async function limited(options: LimitToolsOptions): Promise<{ client: TestClient; server: TestServer }> {
    const connected = await connectLimited(sdk, options)
    clock = connected.clock
    limits = connected.limits
    return connected
  }

  afterEach(() => limits.close())

  describe('a rate limit of all tools', () => {
    test('counts each tool separately, and admits it again after the time that the denial names', async () => {
      const { client } = await limited({ rateLimit: { limit: 2, window: '1m' } })
      expect([await allowed(client, 'search', 3), await allowed(client, 'read', 3)]).toEqual([2, 2])
      clock.advance(59_999)
      expect(await allowed(client, 'search', 1)).toBe(0)
      clock.advance(1)
      expect(await allowed(client, 'search', 1)).toBe(1)
    })

    test('is shared by all servers to which it is applied', async () => {
      const { client } = await limited({ rateLimit: { limit: 2, window: '1m' } })
      const second = limits.apply(sdk.newServer())
      addEcho(second, 'search')
      expect([await allowed(client, 'search', 1), await allowed(await sdk.connect(second), 'search', 2)]).toEqual([
        1, 1,
      ])
    })

    test('counts all tools of a principal together if the key is the principal', async () => {
      const { client } = await limited({ rateLimit: { limit: 2, window: '1m', key: ({ principal }) => principal } })
      expect([await allowed(client, 'search', 1), await allowed(client, 'read', 2)]).toEqual([1, 1])
    })

    test('never counts two pairs of principal and tool under one key', async () => {
      const seen: string[] = []
      const names = ['a:b', 'a']
      const { client } = await limited({
        rateLimit: { limit: 1, window: '1m' },
        principal: () => names.shift(),
        observers: [{ decided: (key) => seen.push(key) }],
      })
      // there are no such tools, which the SDK finds out after the limit
      for (const name of ['c', 'b:c']) expect(await call(client, name)).toMatch(/not found/)
      expect(seen).toEqual(['a:b:c', 'a:b%3Ac'])
    })

    test('lists and initialization are not limited', async () => {
      const { client } = await limited({ rateLimit: { limit: 1, window: '1m' } })
      for (let time = 0; time < 3; time++) expect((await client.listTools()).tools).toHaveLength(2)
      expect(await allowed(client, 'search', 1)).toBe(1)
    })

    test('has overrides for single principals', async () => {
      const overrides = limitOverrides({ limits: { anna: 3 }, hierarchical: true })
      const { client } = await limited({ rateLimit: { limit: 1, window: '1m', overrides }, principal: () => 'anna' })
      expect(await allowed(client, 'search', 4)).toBe(3)
    })
  })

  describe('limits of single tools', () => {
    test('replace the policy of the same name, add others, and are removed by false', async () => {
      const { client, server } = await limited({
        rateLimit: { limit: 2, window: '1m' },
        tools: {
          search: { rateLimit: { limit: 4, window: '1m' } },
          read: { rateLimit: { name: 'hourly', limit: 1, window: '1h' } },
          free: false,
          bare: { rateLimit: false },
        },
      })
      for (const name of ['free', 'bare']) addEcho(server, name)
      expect(await allowed(client, 'search', 6)).toBe(4)
      expect(await allowed(client, 'read', 3)).toBe(1)
      expect(await call(client, 'read')).toContain("Rate limit 'hourly' exceeded for tool 'read': 1 per hour.")
      expect([await allowed(client, 'free', 5), await allowed(client, 'bare', 5)]).toEqual([5, 5])
    })

    test('inherit the key and the cost of the limit of all tools', async () => {
      const { client, server } = await limited({
        rateLimit: { limit: 10, window: '1m', key: ({ principal }) => principal, cost: 5 },
        tools: { search: { rateLimit: { limit: 5, window: '1m' } }, other: { rateLimit: { limit: 5, window: '1m' } } },
      })
      addEcho(server, 'other')
      expect([await allowed(client, 'search', 2), await allowed(client, 'read', 3)]).toEqual([1, 2])
    })

    test('apply without limits of all tools', async () => {
      const { client } = await limited({ tools: { search: { rateLimit: { limit: 1, window: '1m' } } } })
      expect([await allowed(client, 'search', 2), await allowed(client, 'read', 9)]).toEqual([1, 9])
    })

    test('do not affect names of built-in properties', async () => {
      const { client } = await limited({ tools: { search: { rateLimit: { limit: 1, window: '1m' } } } })
      for (const name of ['constructor', '__proto__', 'toString', 'constructor']) {
        expect(await call(client, name)).toMatch(/^denied: MCP error -32602/)
      }
    })
  })

  describe('tools that change while the server runs', () => {
    test('are limited when they are registered, updated and removed later', async () => {
      const { client, server } = await limited({ rateLimit: { limit: 3, window: '1m' } })
      const late = addEcho(server, 'late')
      expect(await call(client, 'late', { text: 'first' })).toBe('first')
      late.update({ callback: async () => ({ content: [{ type: 'text', text: 'updated' }] }) })
      expect(await call(client, 'late')).toBe('updated')
      expect(await allowed(client, 'late', 2)).toBe(1)
      late.remove()
      expect(await call(client, 'late')).toMatch(/^denied: Rate limit exceeded/)
      clock.advance(60_000)
      expect(await call(client, 'late')).toMatch(/not found/)
      addEcho(server, 'late')
      expect(await call(client, 'late', { text: 'back' })).toBe('back')
    })
  })

  describe('costs', () => {
    test('are computed from the arguments', async () => {
      const { client } = await limited({
        rateLimit: { limit: 10, window: '1m', cost: ({ args }) => String(args.text).split(' ').length },
      })
      expect(await call(client, 'search', { text: 'one two three four' })).toMatch(/^one/)
      expect(await call(client, 'search', { text: '1 2 3 4 5 6 7' })).toMatch(/^denied: .*: 10 per minute/)
      expect(await call(client, 'search', { text: '1 2 3 4 5 6' })).toMatch(/^1/)
    })

    test('are settled from the result', async () => {
      const settled: unknown[] = []
      const { client } = await limited({
        rateLimit: {
          limit: 10,
          window: '1m',
          unit: 'words',
          cost: {
            reserve: 5,
            settle: (_call, { result }, { completed, status }) => {
              settled.push([completed, status])
              return Number(result?._meta?.words)
            },
          },
        },
      })
      expect(await call(client, 'search', { text: 'one' })).toBe('one')
      expect(await call(client, 'search', { text: '1 2 3 4' })).toBe('1 2 3 4')
      expect(await call(client, 'search', { text: 'one' })).toBe('one')
      expect(await call(client, 'search')).toBe(
        "denied: Rate limit exceeded for tool 'search': 10 words per minute. Try again in 60 seconds.",
      )
      expect(settled).toEqual(Array(3).fill([true, 200]))
    })

    test('count only failed calls, if required', async () => {
      const { client, server } = await limited({ rateLimit: { limit: 2, window: '1m', countOnly: 'failures' } })
      server.registerTool('fail', {}, async () => {
        throw new Error('it failed')
      })
      expect(await allowed(client, 'search', 5)).toBe(5)
      for (let time = 0; time < 2; time++) expect(await call(client, 'fail')).toBe('denied: it failed')
      expect(await call(client, 'fail')).toMatch(/Rate limit exceeded/)
    })
  })

  describe('a low-level Server', () => {
    test('is limited like an McpServer', async () => {
      limits = limitTools({ rateLimit: { limit: 1, window: '1m' } })
      const server = limits.apply(sdk.newLowLevelServer())
      sdk.handleCalls(server, (tool) => ({ content: [{ type: 'text', text: tool }] }))
      const client = await sdk.connect(server)
      expect([await call(client, 'any'), await allowed(client, 'any', 1)]).toEqual(['any', 0])
    })
  })

  describe('other requests', () => {
    test('are limited by method, with a JSON-RPC error, and independently of tools', async () => {
      limits = limitTools({
        clock: new FakeClock(),
        rateLimit: { limit: 1, window: '1m' },
        requests: { 'resources/read': { rateLimit: { limit: 2, window: '1m' } } },
      })
      const server = limits.apply(sdk.newServer())
      addEcho(server, 'search')
      server.registerResource('note', 'note://1', {}, async ({ href: uri }) => ({
        contents: [{ uri, text: 'a note' }],
      }))
      const client = await sdk.connect(server)
      await allowed(client, 'search', 2)
      for (let time = 0; time < 2; time++) {
        expect((await client.readResource('note://1')).contents).toHaveLength(1)
      }
      await expect(client.readResource('note://1')).rejects.toMatchObject({
        code: 429,
        message: sdk.errorMessage(
          429,
          'Rate limit exceeded for resources/read: 2 per minute. Try again in 60 seconds.',
        ),
      })
      expect((await client.listResources()).resources).toHaveLength(1)
    })
  })

  describe('observers', () => {
    test('receive tools that the options name as routes, and no other names that clients choose', async () => {
      const watcher = new Watcher()
      const { client } = await limited({
        rateLimit: { limit: 9, window: '1m' },
        tools: { search: { rateLimit: { limit: 9, window: '1m' } } },
        observers: [watcher],
      })
      await call(client, 'search')
      await call(client, 'read')
      expect(watcher.requests).toEqual([
        { method: 'tools/call', route: 'search', type: 'object' },
        { method: 'tools/call', route: undefined, type: 'object' },
      ])
    })
  })
})
