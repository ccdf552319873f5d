import { afterEach, beforeEach, describe, expect, test } from '@jest/globals'
import { type LimitToolsOptions, limitTools } from '@sluice/mcp'
import { failingBackend, Warnings } from '@sluice/testkit'
import { addEcho, allowed, call, connectLimited, sdks } from './connected.ts'

const warnings = new Warnings()
beforeEach(() => warnings.listen())
afterEach(() => warnings.stop())

const LIMIT = { limit: 2, window: '1m' } as const

describe.each(sdks)('$name', (sdk) => {
  const limited = async (options: LimitToolsOptions) => (await connectLimited(sdk, options)).client

  describe('a backend that fails', () => {
    const dead = () => failingBackend(() => Promise.reject(new Error('dead')))

    test('is replaced by the limit of this process, and no call fails', async () => {
      const client = await limited({ rateLimit: LIMIT, backend: dead() })
      expect(await allowed(client, 'search', 4)).toBe(2)
      expect(warnings.codes).toContain('SLUICE_BACKEND_FAILED')
    })

    test('allows or denies all calls, as the failure rule says', async () => {
      expect(
        await allowed(await limited({ rateLimit: LIMIT, backend: dead(), onBackendError: 'allow' }), 'search', 4),
      ).toBe(4)
      const client = await limited({ rateLimit: LIMIT, backend: dead(), onBackendError: 'deny' })
      expect(await call(client, 'search')).toMatch(/^denied: Rate limit exceeded for tool 'search'/)
    })
  })

  describe('a function of the options that fails', () => {
    const fails = (): never => {
      throw new Error('broken')
    }

    test.each<[string, LimitToolsOptions]>([
      ['principal', { rateLimit: LIMIT, principal: fails }],
      ['principal without a name', { rateLimit: LIMIT, principal: () => ({}) as string }],
      ['cost', { rateLimit: { ...LIMIT, cost: fails } }],
      ['settle', { rateLimit: { ...LIMIT, cost: { reserve: 1, settle: fails } } }],
      ['skip', { rateLimit: { ...LIMIT, skip: fails } }],
      ['message', { rateLimit: { ...LIMIT, message: fails } }],
      ['denied', { rateLimit: { ...LIMIT, denied: fails } }],
    ])('neither fails a call nor admits more calls, and is reported: %s', async (_what, options) => {
      const client = await limited(options)
      expect(await allowed(client, 'search', 3)).toBe(2)
      expect(await call(client, 'search')).toMatch(/^denied: Rate limit exceeded for tool 'search': 2 per minute/)
      expect(warnings.codes).toEqual(['SLUICE_HOOK_FAILED'])
    })

    test('a key that fails counts all such calls together', async () => {
      const client = await limited({ rateLimit: { ...LIMIT, key: fails } })
      expect(await allowed(client, 'search', 3)).toBe(2)
      expect(warnings.codes).toContain('SLUICE_KEY_FALLBACK')
    })
  })

  test('limits that are applied twice to a server count a call once, and warn', async () => {
    const limits = limitTools({ rateLimit: LIMIT })
    const server = limits.apply(limits.apply(sdk.newServer()))
    addEcho(server, 'search')
    expect(await allowed(await sdk.connect(server), 'search', 3)).toBe(2)
    expect(warnings.codes).toEqual(['SLUICE_LIMITER_TWICE'])
  })

  test('several limits on one server all apply', async () => {
    const [first, second] = [limitTools({ rateLimit: LIMIT }), limitTools({ rateLimit: { limit: 1, window: '1m' } })]
    const server = first.apply(second.apply(sdk.newServer()))
    addEcho(server, 'search')
    expect(await allowed(await sdk.connect(server), 'search', 3)).toBe(1)
    expect(warnings.codes).toEqual([])
  })

  test('refuses methods that the constructors of servers handle', () => {
    for (const method of ['ping', 'initialize']) {
      const limits = limitTools({ requests: { [method]: { rateLimit: LIMIT } } })
      expect(() => limits.apply(sdk.newServer())).toThrow(`expected a server without a handler for ${method}`)
    }
  })

  test('refuses servers that have tools already, and other objects', () => {
    const limits = limitTools({ rateLimit: LIMIT })
    const server = sdk.newServer()
    addEcho(server, 'search')
    expect(() => limits.apply(server)).toThrow(
      'SLUICE_BAD_OPTION: limitTools: apply: expected a server without a handler for tools/call; ' +
        'call apply before you register the first one, received a server that has one',
    )
    for (const other of [undefined, null, {}, { server: {} }, 'server']) {
      expect(() => limits.apply(other as never)).toThrow('expected an McpServer or a Server of the MCP SDK, received')
    }
  })
})

describe('an invalid option', () => {
  const create = limitTools as (options?: unknown) => ReturnType<typeof limitTools>

  test.each<[unknown, string]>([
    [undefined, 'SLUICE_BAD_OPTION: limitTools: expected an object of options, received undefined'],
    [
      {},
      'SLUICE_BAD_OPTION: limitTools: expected at least one of rateLimit, inflightLimit, tools, requests, budget, received none',
    ],
    [{ limit: 1 }, 'SLUICE_BAD_OPTION: limitTools: expected limit in rateLimit: { … }, '],
    [{ rateLimit: { limit: 0, window: '1m' } }, 'SLUICE_BAD_LIMIT: limitTools: '],
    [{ rateLimit: 5 }, 'SLUICE_BAD_OPTION: limitTools: rateLimit: expected an object of options, received a number'],
    [{ tools: [] }, 'SLUICE_BAD_OPTION: limitTools: tools: expected an object of limits by name, received an array'],
    [{ tools: { a: 5 } }, 'SLUICE_BAD_OPTION: limitTools: tools.a: expected an object of options, received a number'],
    [{ tools: { a: { limit: 5 } } }, 'SLUICE_BAD_OPTION: limitTools: tools.a: expected limit in rateLimit: { … }, '],
    [{ tools: { a: { inflightLimit: { limit: -1 } } } }, 'SLUICE_BAD_LIMIT: limitTools: tools.a: '],
    [
      { requests: { 'tools/call': {} } },
      'SLUICE_BAD_OPTION: limitTools: requests.tools/call: expected limits of tools in',
    ],
    [
      { rateLimit: { ...LIMIT, headers: 'draft' } },
      'SLUICE_BAD_OPTION: limitTools: headers: expected no options for headers',
    ],
    [{ rateLimit: LIMIT, error: 'json' }, "SLUICE_BAD_OPTION: limitTools: error: expected one of 'result', 'protocol'"],
    [{ rateLimit: LIMIT, principal: 'anna' }, 'SLUICE_BAD_OPTION: limitTools: principal: expected a function'],
  ])('throws a coded error at start-up: %j', (options, message) => {
    expect(() => create(options)).toThrow(message)
  })

  test('releases the names of limits that were created before it', () => {
    const backend = failingBackend(() => Promise.reject(new Error('dead')))
    const valid = { rateLimit: { name: 'api', ...LIMIT }, backend }
    expect(() => create({ ...valid, tools: { a: { rateLimit: { limit: 0, window: '1m' } } } })).toThrow('tools.a')
    create(valid).close()
    expect(warnings.codes).toEqual([])
  })
})
