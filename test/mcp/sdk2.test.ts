import { describe, expect, test } from '@jest/globals'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { createMcpHandler, InMemoryTransport, inputRequired, McpServer, Server } from '@modelcontextprotocol/server'
import { serveStdio } from '@modelcontextprotocol/server/stdio'
import { type LimitToolsOptions, limitTools } from '@sluice/mcp'
import { FakeClock, until, Watcher } from '@sluice/testkit'
import { z } from 'zod'

const INFO = { name: 'test', version: '1.0.0' }
const LIMIT = { limit: 2, window: '1m' } as const

/** Limits with a clock that does not advance. */
function limitsOf(options: LimitToolsOptions): ReturnType<typeof limitTools> {
  return limitTools({ clock: new FakeClock(), ...options })
}

function newClient(version: string): Client {
  return new Client(INFO, {
    capabilities: { elicitation: { form: {} } },
    ...(version !== '2025-11-25' && { versionNegotiation: { mode: { pin: version } } }),
  })
}

describe.each(['2025-11-25', '2026-07-28'])('SDK 2 with the protocol %s', (version) => {
  async function connect(newServer: () => McpServer | Server): Promise<Client> {
    const [near, far] = InMemoryTransport.createLinkedPair()
    serveStdio(newServer, { transport: far })
    const client = newClient(version)
    await client.connect(near)
    return client
  }

  const callOf = async (client: Client, name: string): Promise<boolean> =>
    (await client.callTool({ name, arguments: {} })).isError !== true

  test('a handler of tool calls with a schema of its own is limited', async () => {
    const limits = limitsOf({ rateLimit: LIMIT })
    const server = limits.apply(new Server(INFO, { capabilities: { tools: {} } }))
    const params = z.looseObject({ name: z.string() })
    server.setRequestHandler('tools/call', { params }, async ({ name }) => ({
      content: [{ type: 'text' as const, text: name }],
    }))
    const client = await connect(() => server)
    const calls = [await callOf(client, 'a'), await callOf(client, 'a'), await callOf(client, 'a')]
    expect([...calls, await callOf(client, 'b')]).toEqual([true, true, false, true])
  })

  test('a method that is not part of the specification is limited, and receives its parameters', async () => {
    const seen: unknown[] = []
    const key = ({ method, params }: { method: string; params: unknown }): string => {
      seen.push([method, params])
      return 'all'
    }
    const limits = limitsOf({ requests: { 'acme/search': { rateLimit: { ...LIMIT, key } } } })
    const server = limits.apply(new McpServer(INFO))
    const params = z.object({ text: z.string() })
    server.server.setRequestHandler('acme/search', { params }, async ({ text }) => ({ found: text }))
    const client = await connect(() => server)
    const search = () => client.request({ method: 'acme/search', params: { text: 'tea' } }, z.looseObject({}))
    expect([await search(), await search()]).toMatchObject([{ found: 'tea' }, { found: 'tea' }])
    await expect(search()).rejects.toMatchObject({
      code: 429,
      message: 'Rate limit exceeded for acme/search: 2 per minute. Try again in 60 seconds.',
      data: { policy: 'default', limit: 2, remaining: 0, retryAfterMs: 60_000 },
    })
    expect(seen).toEqual(Array(3).fill(['acme/search', { text: 'tea' }]))
  })

  test('a handler is limited if further arguments follow it', async () => {
    const limits = limitsOf({ rateLimit: LIMIT })
    const server = limits.apply(new Server(INFO, { capabilities: { tools: {} } }))
    const register = server.setRequestHandler as (...args: unknown[]) => void
    register.call(server, 'tools/call', async () => ({ content: [] }), undefined)
    const client = await connect(() => server)
    expect([await callOf(client, 'a'), await callOf(client, 'a'), await callOf(client, 'a')]).toEqual([
      true,
      true,
      false,
    ])
  })

  describe('a tool that asks for input', () => {
    /** A server whose tool asks once. Returns its client, and how often the tool has run. */
    async function asking(options: LimitToolsOptions, answer: () => Promise<void> = async () => {}) {
      let runs = 0
      const server = limitsOf(options).apply(new McpServer(INFO))
      server.registerTool('remove', {}, async ({ mcpReq: { inputResponses } }) => {
        runs++
        if (inputResponses) return { content: [{ type: 'text', text: 'removed' }] }
        const requestedSchema = { type: 'object' as const, properties: { sure: { type: 'boolean' as const } } }
        return inputRequired({
          inputRequests: { sure: inputRequired.elicit({ message: 'Are you sure?', requestedSchema }) },
        })
      })
      const client = await connect(() => server)
      client.setRequestHandler('elicitation/create', async () => {
        await answer()
        return { action: 'accept', content: { sure: true } }
      })
      return { client, runs: () => runs }
    }

    test('counts once for each run', async () => {
      const watcher = new Watcher()
      const { client, runs } = await asking({ rateLimit: { ...LIMIT, limit: 3 }, observers: [watcher] })
      expect([await callOf(client, 'remove'), runs()]).toEqual([true, 2])
      expect(watcher.decisions.map(({ allowed }) => allowed)).toEqual([true, true])
      expect([await callOf(client, 'remove'), runs()]).toEqual([false, 3])
    })

    test('counts once for each call, if questions cost nothing', async () => {
      const cost = {
        reserve: 1,
        settle: (_call: unknown, { result }: { result?: Record<string, unknown> | undefined }) =>
          result?.resultType === 'input_required' ? 0 : undefined,
      }
      const { client, runs } = await asking({ rateLimit: { ...LIMIT, cost } })
      const calls = [await callOf(client, 'remove'), await callOf(client, 'remove'), await callOf(client, 'remove')]
      expect([calls, runs()]).toEqual([[true, true, false], 4])
    })

    test('holds no permit while the client answers', async () => {
      const watcher = new Watcher()
      const answers: (() => void)[] = []
      const answer = (): Promise<void> => new Promise((resolve) => answers.push(resolve))
      const { client } = await asking({ inflightLimit: { limit: 1, observers: [watcher] } }, answer)
      const first = callOf(client, 'remove')
      await until(() => answers.length === 1)
      expect([watcher.acquired, watcher.held]).toEqual([1, 0])
      answers[0]()
      expect([await first, watcher.acquired, watcher.held]).toEqual([true, 2, 0])
    })
  })
})

test('clients of both protocols share the limits of an HTTP endpoint', async () => {
  const limits = limitsOf({ rateLimit: { ...LIMIT, limit: 3 } })
  const handler = createMcpHandler(() => {
    const server = limits.apply(new McpServer(INFO))
    server.registerTool('search', {}, async () => ({ content: [] }))
    return server
  })
  const authInfo = { token: 'a', clientId: 'anna', scopes: [] }
  const ask = async (version: string): Promise<Client> => {
    const client = newClient(version)
    await client.connect(
      new StreamableHTTPClientTransport(new URL('http://mcp.test/mcp'), {
        fetch: (url, init) => handler.fetch(new Request(url, init), { authInfo }),
      }),
    )
    return client
  }
  const [old, latest] = [await ask('2025-11-25'), await ask('2026-07-28')]
  const denied: boolean[] = []
  for (const client of [old, latest, old, latest, old]) {
    denied.push((await client.callTool({ name: 'search', arguments: {} })).isError === true)
  }
  expect(denied).toEqual([false, false, false, true, true])
})
