import { afterEach, describe, expect, test } from '@jest/globals'
import type { LimitToolsOptions, ToolLimits } from '@sluice/mcp'
import { until, Watcher } from '@sluice/testkit'
import { call, connectLimited, sdks } from './connected.ts'
import type { TestClient, TestServer } from './sdk.ts'

describe.each(sdks)('$name', (sdk) => {
  let limits: ToolLimits

  /** Returns a client of a server with the tools `search` and `read`. */
  async function limited(options: LimitToolsOptions): Promise<{ client: TestClient; server: TestServer }> {
    const connected = await connectLimited(sdk, options)
    limits = connected.limits
    return connected
  }

  afterEach(() => limits.close())

  describe('a cap', () => {
    /** A server whose tool `slow` runs until `finish` is called. */
    async function slow(options: LimitToolsOptions) {
      const { client, server } = await limited(options)
      const running: (() => void)[] = []
      server.registerTool('slow', {}, async () => {
        await new Promise<void>((resolve) => running.push(resolve))
        return { content: [{ type: 'text', text: 'done' }] }
      })
      return { client, running }
    }

    test('of a tool limits its concurrent calls', async () => {
      const { client, running } = await slow({ tools: { slow: { inflightLimit: { limit: 2 } } } })
      const calls = [call(client, 'slow'), call(client, 'slow')]
      await until(() => running.length === 2)
      expect(await client.callTool('slow')).toEqual({
        content: [
          {
            type: 'text',
            text: "Limit of concurrent calls reached for tool 'slow': at most 2 at a time. Try again in 1 second.",
          },
        ],
        isError: true,
        _meta: { policy: 'inflight', limit: 2, remaining: 0, retryAfterMs: 1_000 },
      })
      for (const finish of running) finish()
      expect(await Promise.all(calls)).toEqual(['done', 'done'])
      const next = call(client, 'slow')
      await until(() => running.length === 3)
      running[2]()
      expect(await next).toBe('done')
    })

    test('releases its permit when the client cancels the call', async () => {
      const watcher = new Watcher()
      const { client, running } = await slow({ inflightLimit: { limit: 1, observers: [watcher] } })
      const cancel = new AbortController()
      const first = client.callTool('slow', {}, cancel.signal)
      await until(() => running.length === 1)
      cancel.abort()
      await expect(first).rejects.toThrow()
      await until(() => watcher.released === 1)
      const second = call(client, 'slow')
      await until(() => running.length === 2)
      running[1]()
      expect(await second).toBe('done')
      running[0]()
      expect([watcher.acquired, watcher.held]).toEqual([2, 0])
    })

    test('releases its permit when the client disconnects', async () => {
      const watcher = new Watcher()
      const { client, running } = await slow({ inflightLimit: { limit: 1, observers: [watcher] } })
      const failed = expect(client.callTool('slow')).rejects.toThrow()
      await until(() => running.length === 1)
      expect(watcher.held).toBe(1)
      await client.close()
      await failed
      await until(() => watcher.held === 0)
      running[0]()
    })

    test('holds its permit until the tool has returned, if holdUntil is handler', async () => {
      const watcher = new Watcher()
      const { client, running } = await slow({
        inflightLimit: { limit: 1, holdUntil: 'handler', observers: [watcher] },
      })
      const cancel = new AbortController()
      const first = client.callTool('slow', {}, cancel.signal)
      await until(() => running.length === 1)
      cancel.abort()
      await expect(first).rejects.toThrow()
      expect(await call(client, 'slow')).toMatch(/^denied/)
      running[0]()
      await until(() => watcher.released === 1)
    })

    test('releases its permit if another cap denies the call', async () => {
      const watcher = new Watcher()
      const { client, running } = await slow({
        inflightLimit: { name: 'all', limit: 5, observers: [watcher] },
        tools: { slow: { inflightLimit: { name: 'slow', limit: 1 } } },
      })
      const first = call(client, 'slow')
      await until(() => running.length === 1)
      expect(await call(client, 'slow')).toContain(
        "Limit of concurrent calls 'slow' reached for tool 'slow': at most 1",
      )
      // of the first call: both caps report to the observer of all tools
      expect([watcher.acquired, watcher.held]).toEqual([3, 2])
      running[0]()
      await first
      expect(watcher.held).toBe(0)
    })

    test('lets calls wait for a place, and a cancelled call gives up its turn', async () => {
      const { client, running } = await slow({ inflightLimit: { limit: 1, queue: { max: 5, maxWaitMs: '10s' } } })
      const first = call(client, 'slow')
      await until(() => running.length === 1)
      const cancel = new AbortController()
      const second = client.callTool('slow', {}, cancel.signal)
      const third = call(client, 'slow')
      cancel.abort()
      await expect(second).rejects.toThrow()
      running[0]()
      await until(() => running.length === 2)
      running[1]()
      expect(await Promise.all([first, third])).toEqual(['done', 'done'])
      expect(running).toHaveLength(2)
    })
  })
})
