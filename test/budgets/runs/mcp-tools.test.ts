import { describe, expect, test } from '@jest/globals'
import { Client as Client2, InMemoryTransport as Transport2 } from '@modelcontextprotocol/client'
import { Client as Client1 } from '@modelcontextprotocol/sdk/client/index.js'
import { InMemoryTransport as Transport1 } from '@modelcontextprotocol/sdk/inMemory.js'
import { type RunBudget, runBudget } from '@sluice/quotas/budgets'
import { FakeClock, Warnings } from '@sluice/testkit'
import { addEcho, call, connectLimited, sdks } from '../../mcp/connected.ts'
import type { Sdk, TestServer } from '../../mcp/sdk.ts'
import { sdk1 } from '../../mcp/sdk1.ts'
import { sdk2 } from '../../mcp/sdk2.ts'

const exhausted = (more: object) => expect.objectContaining({ code: 'SLUICE_BUDGET_EXHAUSTED', ...more })

/** A client of the SDK, without a wrapper of the tests. */
async function clientOf(sdk: Sdk): Promise<Client1 | Client2> {
  const server = sdk.newServer()
  addEcho(server, 'search')
  const [near, far] = sdk === sdk1 ? Transport1.createLinkedPair() : Transport2.createLinkedPair()
  await (server as TestServer & { connect(transport: unknown): Promise<void> }).connect(far)
  const client = sdk === sdk1 ? new Client1({ name: 'a', version: '1' }) : new Client2({ name: 'a', version: '1' })
  await client.connect(near as never)
  return client
}

describe.each([sdk1, sdk2])('a client of $name', (sdk) => {
  test('calls tools within the budget of its run', async () => {
    const budget = runBudget({ calls: 5, loops: { repeats: 2 }, clock: new FakeClock() })
    const client = await clientOf(sdk)
    const child = budget.child({ name: 'agent' })
    const guarded = child.wrap(client)
    const search = (text: string) => guarded.callTool({ name: 'search', arguments: { text } })
    expect(await search('tea')).toMatchObject({ content: [{ text: 'tea' }] })
    expect((await guarded.listTools()).tools).toHaveLength(1)
    await search('tea')
    await expect(search('tea')).rejects.toEqual(exhausted({ bound: 'loop', tool: 'search', budget: 'agent' }))
    const other = budget.wrap(client)
    for (const text of ['a', 'b', 'c']) await other.callTool({ name: 'search', arguments: { text } })
    await expect(other.callTool({ name: 'search' })).rejects.toEqual(exhausted({ bound: 'calls', limit: 5 }))
    expect(budget.report()).toMatchObject({ spent: { calls: 5 }, children: [{ name: 'agent', spent: { calls: 2 } }] })
    await client.close()
  })
})

describe.each(sdks)('a server of $name', (sdk) => {
  test('runs tools within the budget of the run that calls them', async () => {
    const budget = runBudget({ calls: 2, clock: new FakeClock() })
    const { client, limits } = await connectLimited(sdk, { budget })
    expect([await call(client, 'search', { text: 'a' }), await call(client, 'read', { text: 'b' })]).toEqual(['a', 'b'])
    const denied = await client.callTool('search', { text: 'c' })
    expect(denied).toMatchObject({ isError: true, _meta: { policy: 'budget', remaining: 0 } })
    expect(denied.content[0].text).toBe(
      "The budget of this run is used up: tool 'search' was not completed. Do not call tools again, and answer with what you have.",
    )
    expect((await client.listTools()).tools).toHaveLength(2)
    limits.close()
  })

  test('chooses the budget of a call, and charges none that a limit denies', async () => {
    const budgets = new Map<unknown, RunBudget>([['a', runBudget({ calls: 3, clock: new FakeClock() })]])
    const { client, limits } = await connectLimited(sdk, {
      rateLimit: { limit: 2, window: '1m' },
      budget: ({ args }) => budgets.get(args.text),
      error: 'protocol',
    })
    expect(await call(client, 'search', { text: 'b' })).toBe('b')
    expect(await call(client, 'search', { text: 'a' })).toBe('a')
    expect(await call(client, 'search', { text: 'a' })).toMatch(/^denied: MCP error 429: Rate limit exceeded/)
    expect(await call(client, 'read', { text: 'a' })).toBe('a')
    expect(budgets.get('a')?.spent.calls).toBe(2)
    await budgets.get('a')?.close()
    expect(await call(client, 'read', { text: 'a' })).toMatch(/^denied: MCP error 429: The budget of this run is used/)
    limits.close()
  })

  test.each<[string, () => never]>([
    [
      'throws',
      () => {
        throw new Error('broken')
      },
    ],
    ['returns no budget', (() => 'none') as () => never],
  ])('denies calls if the function of budgets %s', async (_what, budget) => {
    const warnings = new Warnings()
    warnings.listen()
    const { client, limits } = await connectLimited(sdk, { budget })
    expect(await call(client, 'search')).toMatch(/^denied: The budget of this run is used up/)
    expect(warnings.codes).toEqual(['SLUICE_HOOK_FAILED'])
    warnings.stop()
    limits.close()
  })
})
