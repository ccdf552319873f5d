import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { afterEach, describe, expect, test } from '@jest/globals'
import type { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import type { AuthInfo } from '@modelcontextprotocol/sdk/server/auth/types.js'
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js'
import { type LimitToolsOptions, limitTools } from '@sluice/mcp'
import { root } from '../repository.ts'
import { addEcho, allowed, call, connectTo, newServer } from './connected.ts'

const closing: (() => Promise<unknown> | unknown)[] = []

afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close()
})

describe('on stdio', () => {
  const program = join(import.meta.dirname, 'programs/stdio-server.ts')
  const hook = require.resolve('../services/typescript-hook.cjs')

  test('all calls of a process have one key, and a denied call names the time to wait', async () => {
    const client = await connectTo(
      new StdioClientTransport({
        command: process.execPath,
        args: ['--conditions=@sluice/source', '-r', hook, '-e', `require(${JSON.stringify(program)})`],
        cwd: root,
      }),
    )
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
    const open = new Map<string, StreamableHTTPServerTransport>()
    const answer = async (req: IncomingMessage & { auth?: AuthInfo }, res: ServerResponse): Promise<void> => {
      const [, token] = /^Bearer (\w+)$/.exec(req.headers.authorization ?? '') ?? []
      if (token) req.auth = { token, clientId: `app-${token}`, scopes: [], extra: { user: token.slice(0, 4) } }
      const known = open.get(String(req.headers['mcp-session-id']))
      if (known) return known.handleRequest(req, res)
      const transport = new StreamableHTTPServerTransport({
        ...(session && { sessionIdGenerator: randomUUID }),
        onsessioninitialized: (id) => {
          open.set(id, transport)
        },
      })
      const server = limits.apply(newServer())
      addEcho(server, 'search')
      await server.connect(transport)
      await transport.handleRequest(req, res)
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

  async function ask(url: string, token?: string): Promise<Client> {
    const headers = token ? { authorization: `Bearer ${token}` } : {}
    const client = await connectTo(new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers } }))
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
    expect([await allowed(first, 'search', 3), await allowed(second, 'search', 3)]).toEqual([2, 2])
    const without = await serve(limit)
    expect([await allowed(await ask(without), 'search', 1), await allowed(await ask(without), 'search', 2)]).toEqual([
      1, 1,
    ])
  })

  test('a header of the HTTP request can be the key', async () => {
    const url = await serve({
      rateLimit: { limit: 1, window: '1m', key: (request) => request.header('authorization') },
    })
    const [anna, bert] = [await ask(url, 'anna'), await ask(url, 'bert')]
    expect([await allowed(anna, 'search', 2), await allowed(bert, 'search', 2)]).toEqual([1, 1])
  })
})
