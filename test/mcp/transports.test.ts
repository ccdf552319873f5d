import { once } from 'node:events'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { afterEach, describe, expect, test } from '@jest/globals'
import { type LimitToolsOptions, limitTools } from '@sluice/mcp'
import { FakeClock, until, Watcher } from '@sluice/testkit'
import { root } from '../repository.ts'
import { calledAfterEach, endedAfterEach } from '../services/for-tests.ts'
import { addEcho, allowed, call, sdks } from './connected.ts'
import type { TestAuth, TestClient } from './sdk.ts'

const closing = calledAfterEach()

/** Ends the calls of the tool `slow`, in their order. */
const running = endedAfterEach<() => void>((finish) => finish())
/** Number of responses that have been sent or whose client has disconnected. */
let closed = 0
/** Signals of the calls of the tool `slow`. */
const signals: AbortSignal[] = []

afterEach(() => {
  signals.length = 0
})

describe.each(sdks)('$name', (sdk) => {
  describe('on stdio', () => {
    const program = join(import.meta.dirname, 'programs/stdio-server.ts')
    const hook = require.resolve('../services/processes/typescript-hook.cjs')

    test('all calls of a process have one key, and a denied call names the time to wait', async () => {
      const args = ['--conditions=@sluice/source', '-r', hook, '-e', `require(${JSON.stringify(program)})`, sdk.name]
      const client = await sdk.connectToProcess(args, root)
      closing.push(() => client.close())
      expect(await call(client, 'whoami')).toBe('process')
      expect(await allowed(client, 'whoami', 2)).toBe(1)
      expect(await call(client, 'whoami')).toMatch(
        /^denied: Rate limit exceeded for tool 'whoami': 2 per hour\. Try again in 60 minutes\.$/,
      )
    })
  })

  describe('on streamable HTTP', () => {
    /** Serves tools at a URL. `session`: whether clients have sessions; otherwise each request has its own server. */
    async function serve(options: LimitToolsOptions, session = false): Promise<string> {
      const limits = limitTools(options)
      const listener = sdk.httpListener(() => {
        const server = limits.apply(sdk.newServer())
        addEcho(server, 'search')
        server.registerTool('slow', {}, async (extra) => {
          signals.push(sdk.signalOf(extra))
          await new Promise<void>((resolve) => running.push(resolve))
          return { content: [] }
        })
        return server
      }, session)
      const answer = async (req: IncomingMessage & { auth?: TestAuth }, res: ServerResponse): Promise<void> => {
        const [, token] = /^Bearer (\w+)$/.exec(req.headers.authorization ?? '') ?? []
        if (token) req.auth = { token, clientId: `app-${token}`, scopes: [], extra: { user: token.slice(0, 4) } }
        res.once('close', () => closed++)
        await listener(req, res)
      }
      const http: Server = createServer((req, res) => void answer(req, res))
      await once(http.listen(0, '127.0.0.1'), 'listening')
      closing.push(async () => {
        limits.close()
        http.closeAllConnections()
        http.close()
        await once(http, 'close')
      })
      return `http://127.0.0.1:${(http.address() as AddressInfo).port}/mcp`
    }

    async function ask(url: string, token?: string): Promise<TestClient> {
      const headers = token ? { authorization: `Bearer ${token}` } : {}
      const client = await sdk.connectToUrl(url, headers)
      closing.push(() => client.close())
      return client
    }

    test('two principals have separate limits, which outlast the servers of single requests', async () => {
      const seen = new Set<string>()
      const url = await serve({
        rateLimit: { limit: 3, window: '1m', observers: [{ decided: (key) => seen.add(key) }] },
      })
      const [anna, bert] = [await ask(url, 'anna'), await ask(url, 'bert')]
      expect([await allowed(anna, 'search', 5), await allowed(bert, 'search', 2)]).toEqual([3, 2])
      // another connection of the same client
      expect(await allowed(await ask(url, 'bert'), 'search', 5)).toBe(1)
      expect([...seen]).toEqual(['client app-anna:search', 'client app-bert:search'])
    })

    test('the user of a token is the principal, if the options say so', async () => {
      const url = await serve({
        rateLimit: { limit: 3, window: '1m' },
        principal: ({ authInfo }) => authInfo?.extra?.user as string | undefined,
      })
      const [phone, laptop] = [await ask(url, 'annaPhone'), await ask(url, 'annaLaptop')]
      expect([await allowed(phone, 'search', 2), await allowed(laptop, 'search', 5)]).toEqual([2, 1])
    })

    test('without tokens the session is the principal, and without sessions the process', async () => {
      const limit = { rateLimit: { limit: 2, window: '1m' } } as const
      const withSessions = await serve(limit, true)
      const [first, second] = [await ask(withSessions), await ask(withSessions)]
      const counts = [await allowed(first, 'search', 3), await allowed(second, 'search', 3)]
      expect(counts).toEqual(sdk.sessions ? [2, 2] : [2, 0])
      const without = await serve(limit)
      expect([await allowed(await ask(without), 'search', 1), await allowed(await ask(without), 'search', 2)]).toEqual([
        1, 1,
      ])
    })

    test('a denied call receives the data of the denial, or a JSON-RPC error', async () => {
      const clock = new FakeClock()
      const rateLimit = { limit: 1, window: '1h' } as const
      const client = await ask(await serve({ rateLimit, clock }))
      await call(client, 'search')
      const data = { policy: 'default', limit: 1, remaining: 0, retryAfterMs: 3_600_000 }
      const text = "Rate limit exceeded for tool 'search': 1 per hour. Try again in 60 minutes."
      expect(await client.callTool('search')).toEqual({ content: [{ type: 'text', text }], isError: true, _meta: data })
      const other = await ask(await serve({ rateLimit, clock, error: 'protocol' }))
      await call(other, 'search')
      await expect(other.callTool('search')).rejects.toMatchObject({ code: 429, data })
    })

    test('a call that the client cancels releases its permit, and so does a client that disconnects', async () => {
      const watcher = new Watcher()
      const cap = { inflightLimit: { limit: 1, observers: [watcher] } } as const
      const cancel = new AbortController()
      const first = (await ask(await serve(cap, true))).callTool('slow', {}, cancel.signal)
      await until(() => watcher.held === 1)
      cancel.abort()
      await expect(first).rejects.toThrow()
      await until(() => watcher.held === 0)
      const client = await ask(await serve(cap))
      const second = client.callTool('slow')
      const failed = expect(second).rejects.toThrow()
      await until(() => watcher.held === 1)
      await client.close()
      await failed
      await until(() => watcher.held === 0)
    })

    test('a client that disconnects keeps its permit until the tool has returned, if holdUntil is handler', async () => {
      const watcher = new Watcher()
      const url = await serve({ inflightLimit: { limit: 1, holdUntil: 'handler', observers: [watcher] } })
      const client = await ask(url)
      const failed = expect(client.callTool('slow')).rejects.toThrow()
      await until(() => running.length === 1)
      await client.close()
      await failed
      await until(() => signals[0].aborted)
      expect(watcher.held).toBe(1)
      expect(await call(await ask(url), 'search')).toMatch(/^denied: Limit of concurrent calls/)
      running[0]()
      await until(() => watcher.held === 0)
    })

    if (sdk.sessions) {
      test('a client that disconnects from a session keeps its permit until the tool has returned', async () => {
        const watcher = new Watcher()
        const url = await serve({ inflightLimit: { limit: 1, observers: [watcher] } }, true)
        const client = await ask(url)
        const failed = expect(client.callTool('slow')).rejects.toThrow()
        await until(() => running.length === 1)
        const before = closed
        await client.close()
        await failed
        await until(() => closed > before)
        expect([signals[0].aborted, watcher.held]).toEqual([false, 1])
        running[0]()
        await until(() => watcher.held === 0)
      })
    }

    test('a header of the HTTP request can be the key', async () => {
      const url = await serve({
        rateLimit: { limit: 1, window: '1m', key: (request) => request.header('authorization') },
      })
      const [anna, bert] = [await ask(url, 'anna'), await ask(url, 'bert')]
      expect([await allowed(anna, 'search', 2), await allowed(bert, 'search', 2)]).toEqual([1, 1])
    })
  })
})
