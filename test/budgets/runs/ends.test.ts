import { expect, test } from '@jest/globals'
import { type OnExhausted, type RunBudgetOptions, type RunEnd, runBudget } from '@sluice/quotas/budgets'
import { FakeClock } from '@sluice/testkit'
import { CHUNK_MS, FakeModel, flushed, MODEL, played, prices, promptOf, readAll } from './fake-model.ts'

/** A budget for about a half of a stream of 1,000 tokens. */
function opened(onExhausted: OnExhausted | undefined, options: Partial<RunBudgetOptions> = {}) {
  const clock = new FakeClock()
  const model = new FakeModel({ clock, outputTokens: () => 1_000 })
  const budget = runBudget({ usd: 0.005, prices, clock, onExhausted, ...options })
  return { clock, model, budget, wrapped: budget.wrap(model) }
}

const exhausted = (more: object = {}) => expect.objectContaining({ code: 'SLUICE_BUDGET_EXHAUSTED', ...more })

test('abort ends a stream in the middle, and rejects further calls', async () => {
  const { clock, model, budget, wrapped } = opened(undefined)
  await expect(played(clock, readAll(wrapped, promptOf(100)))).rejects.toEqual(exhausted({ bound: 'usd' }))
  expect(model.charged).toBeGreaterThan(4_900)
  expect(model.charged).toBeLessThanOrEqual(5_120)
  await expect(readAll(wrapped, promptOf(1))).rejects.toEqual(exhausted())
  await expect(budget.call({ name: 'tool' }, () => 1)).rejects.toEqual(exhausted())
  expect(() => budget.child(0.5)).toThrow('SLUICE_BUDGET_EXHAUSTED')
  expect(budget.signal.reason).toEqual(exhausted({ budget: 'run', limit: '0.005000' }))
})

test('finish lets running calls end, and rejects further ones', async () => {
  const { clock, model, budget, wrapped } = opened('finish')
  const text = readAll(wrapped, promptOf(100))
  await flushed()
  while (!budget.end) {
    clock.advance(CHUNK_MS)
    await flushed()
  }
  expect(budget.signal.aborted).toBe(false)
  await expect(readAll(wrapped, promptOf(1))).rejects.toEqual(exhausted())
  expect((await played(clock, text)).length).toBe(4_000)
  expect(budget.signal.aborted).toBe(true)
  expect(budget.spent.microUsd).toBe(model.charged)
})

test('a function raises the bound, once for all calls that have reached it', async () => {
  const asked: RunEnd[] = []
  const { clock, model, budget, wrapped } = opened(async (end) => {
    asked.push(end)
    await flushed()
    return asked.length < 3 ? { usd: '0.009' } : undefined
  })
  const calls = [1, 2, 3].map((part) => readAll(wrapped, promptOf(100 * part)))
  const ends = await played(clock, Promise.allSettled(calls))
  expect(asked.map(({ bound, limit }) => `${bound} ${limit}`)).toEqual(['usd 0.005000', 'usd 0.014000', 'usd 0.023000'])
  expect(ends.some(({ status }) => status === 'rejected')).toBe(true)
  expect(model.charged).toBeLessThanOrEqual(23_000 + 3 * 120)
  expect(model.charged).toBeGreaterThan(22_000)
  await budget.close()
})

test('a raised bound also holds for children, and for those that are created later', async () => {
  const { clock, budget } = opened(() => ({ calls: 2 }), { usd: undefined, calls: 2 })
  const first = budget.child({ calls: 10 })
  for (let call = 0; call < 4; call++) await first.call({ name: 'tool' }, () => call)
  const second = budget.child({})
  for (let call = 0; call < 3; call++) await second.call({ name: 'tool' }, () => call)
  expect(budget.spent.calls).toBe(7)
  expect(await budget.left()).toMatchObject({ calls: 1 })
  await budget.close()
  expect(clock.pending).toBe(0)
})

test.each<[string, OnExhausted]>([
  ['throws', () => Promise.reject(new Error('no answer'))],
  ['raises another bound', () => ({ tokens: 1_000 })],
  ['raises by nothing', () => ({ usd: 0 })],
  ['returns a wrong bound', () => ({ usd: -1 })],
])('a function that %s aborts the budget', async (_what, onExhausted) => {
  const { clock, budget, wrapped } = opened(onExhausted)
  await expect(played(clock, readAll(wrapped, promptOf(100)))).rejects.toEqual(exhausted({ bound: 'usd' }))
  expect(budget.end?.bound).toBe('usd')
})

test('the time of a budget ends its calls and those of its children', async () => {
  const { clock, budget, wrapped } = opened(undefined, { usd: 1, seconds: 0.5 })
  const child = budget.child({ share: 0.5, name: 'half' })
  const late = child.call({ name: 'sleep' }, () => new Promise(() => {}))
  const reading = readAll(wrapped, promptOf(10))
  late.catch(() => {})
  reading.catch(() => {})
  await flushed()
  clock.advance(250)
  await expect(late).rejects.toEqual(exhausted({ bound: 'seconds', budget: 'half', limit: 0.25 }))
  expect(budget.end).toBeUndefined()
  clock.advance(250)
  await expect(reading).rejects.toEqual(exhausted({ bound: 'seconds', budget: 'run', limit: 0.5 }))
  expect(budget.report()).toMatchObject({ end: { bound: 'seconds' }, children: [{ end: { bound: 'seconds' } }] })
  await budget.close()
  expect(clock.pending).toBe(0)
})

test('more time can be given', async () => {
  let asked = 0
  const { clock, budget } = opened(() => (++asked > 1 ? undefined : { seconds: 2 }), { usd: undefined, seconds: 1 })
  clock.advance(1_000)
  await flushed()
  expect(budget.end).toBeUndefined()
  clock.advance(1_999)
  await flushed()
  expect(budget.end).toBeUndefined()
  clock.advance(1)
  await flushed()
  expect(budget.end).toMatchObject({ bound: 'seconds', limit: 3 })
})

test('a signal of the application and close end a run', async () => {
  const stop = new AbortController()
  const { budget } = opened(undefined, { signal: stop.signal })
  const running = budget.call({ name: 'sleep' }, () => new Promise(() => {}))
  running.catch(() => {})
  await flushed()
  stop.abort(new Error('the user left'))
  await expect(running).rejects.toEqual(exhausted({ bound: 'signal', cause: new Error('the user left') }))

  const other = opened(undefined)
  const child = other.budget.child({})
  const call = child.call({ name: 'sleep', cost: { usd: '0.001' } }, () => new Promise(() => {}))
  call.catch(() => {})
  await flushed()
  await child.close()
  await expect(call).rejects.toEqual(exhausted({ bound: 'closed', budget: 'child-1' }))
  expect(await other.budget.left()).toMatchObject({ usd: '0.004000' })
  await other.budget.close()
  await other.budget.close()
  expect(other.clock.pending).toBe(0)
  expect(runBudget({ calls: 1, signal: AbortSignal.abort() }).end).toMatchObject({ bound: 'signal' })
})

test('the same call of a tool again and again is a loop', async () => {
  const { budget } = opened(undefined, { usd: undefined, calls: 100, loops: { repeats: 3, within: 6 } })
  const search = budget.guard(async (query: object) => query, { name: 'search' })
  for (let call = 0; call < 3; call++) {
    await search({ text: 'tea', page: { from: 1, to: 2 } })
    await search({ text: 'tea', page: { from: call + 5, to: 2 } })
  }
  // the keys of arguments have no order; the two oldest calls are forgotten
  await search({ page: { to: 2, from: 99 }, text: 'tea' })
  await search({ page: { to: 2, from: 1 }, text: 'tea' })
  await expect(search({ page: { to: 2, from: 1 }, text: 'tea' })).rejects.toEqual(
    exhausted({ bound: 'loop', limit: 3, tool: 'search' }),
  )
  expect(budget.spent.calls).toBe(8)
})

test('arguments that cannot be compared are no loop', async () => {
  const { budget } = opened(undefined, { usd: undefined, calls: 100, loops: { repeats: 1 } })
  const cycle: Record<string, unknown> = {}
  cycle.own = cycle
  let deep: unknown = []
  for (let depth = 0; depth < 100_000; depth++) deep = [deep]
  const hostile = {
    get value() {
      throw new Error('a getter')
    },
  }
  class Secret {
    #value = 1
    read = () => this.#value
  }
  const tool = budget.guard((_value: unknown) => 1, { name: 'tool' })
  for (const value of [cycle, deep, hostile, new Secret(), new WeakMap()]) {
    await tool(value)
    await tool(value)
  }
  for (const value of [1n, new Map([[1, 2]]), new Set([3]), new Date(0), new Uint8Array(3), null]) {
    await tool(value)
  }
  const looping = budget.child({ loops: { repeats: 1 } }).guard((_value: unknown) => 1, { name: 'tool' })
  await looping(new Map([[1, { a: 1, b: 2 }]]))
  await expect(looping(new Map([[1, { b: 2, a: 1 }]]))).rejects.toEqual(exhausted({ bound: 'loop' }))
  expect(budget.end).toBeUndefined()
})

test('a loop goes on if the function of the application allows it', async () => {
  const ends: RunEnd[] = []
  const ask = (end: RunEnd) => (ends.push(end) < 3 ? {} : undefined)
  const { budget } = opened(ask, { usd: undefined, calls: 100, loops: { repeats: 2 } })
  const poll = budget.guard(() => 'pending', { name: 'poll' })
  for (let call = 0; call < 6; call++) await poll()
  await expect(poll()).rejects.toEqual(exhausted({ bound: 'loop', tool: 'poll' }))
  expect(ends).toHaveLength(3)
})

test('a call waits for units that another call returns, and takes what is left when nothing else runs', async () => {
  const { clock, model, wrapped, budget } = opened(undefined, { usd: 0.02 })
  const calls = [1, 2, 3].map(() => wrapped.doGenerate({ ...promptOf(10), maxOutputTokens: 1_500 }))
  const first = await played(clock, calls[0])
  expect(first.usage.outputTokens.total).toBe(1_000)
  // only one call fits at a time, and the second one is given the rest: 9.9 of 20 millidollars are left
  const rest = await played(clock, Promise.allSettled([calls[1], calls[2]]))
  const outputs = model.calls.map(({ output }) => output)
  expect(outputs[0]).toBe(1_000)
  expect(outputs[1]).toBeLessThan(1_000)
  expect(rest[1]).toMatchObject({ status: 'rejected', reason: { code: 'SLUICE_BUDGET_EXHAUSTED' } })
  expect(model.charged).toBeLessThanOrEqual(20_000)
  expect(budget.spent.microUsd).toBe(model.charged)
  expect(prices.costOf(MODEL, { output: 1 })).toBe(10)
})

test.each<[string, (budget: ReturnType<typeof runBudget>) => unknown]>([
  ['a cost with 7 decimal places', (budget) => budget.guard(() => 1, { cost: { usd: 0.0000001 } })],
  ['a negative number of tokens', (budget) => budget.guard(() => 1, { cost: { tokens: -1 } })],
  ['an unknown option of guard', (budget) => budget.guard(() => 1, { price: 1 } as never)],
  ['no function', (budget) => budget.guard('search' as never)],
  ['a model that is no object', (budget) => budget.wrap('openai/gpt-5' as never)],
  ['null as options of wrap', (budget) => budget.wrap({}, null as never)],
  ['a share of 0', (budget) => budget.child(0)],
  ['a share above 1', (budget) => budget.child(1.1)],
  ['a name with a slash', (budget) => budget.child({ name: 'a/b' })],
  ['a name that is taken', (budget) => [budget.child({ name: 'a' }), budget.child({ name: 'a' })]],
  ['a bound of 0', (budget) => budget.child({ usd: 0 })],
  ['no bound', () => runBudget({})],
  ['prices in another currency', () => runBudget({ calls: 1, prices: { ...prices, unit: 'micro-eur' } })],
])('%s is refused with a coded error', (_what, build) => {
  expect(() => build(runBudget({ calls: 5 }))).toThrow(/SLUICE_BAD_OPTION: \S.*: expected .*, received /)
})

test('a result of settle that is not a cost rejects the call, which costs what it held', async () => {
  const { budget } = opened(undefined)
  const tool = budget.guard(() => 1, { name: 'tool', cost: { usd: '0.001' }, settle: () => ({ usd: -1 }) })
  await expect(tool()).rejects.toMatchObject({ code: 'SLUICE_BAD_OPTION' })
  expect(budget.spent.microUsd).toBe(1_000)
})

test('tools of the AI SDK are guarded, without the context of the call', async () => {
  const { budget } = opened(undefined, { usd: undefined, calls: 9, loops: { repeats: 2 } })
  const own = {
    execute: async (input: object, { toolCallId }: { toolCallId: string }) => ({ input, toolCallId }),
    title: 'Search',
  }
  const tools = budget.tools({ search: own, plain: { title: 'without a function' } })
  expect(tools.plain).toEqual({ title: 'without a function' })
  expect(tools.search.title).toBe('Search')
  expect(await tools.search.execute({ text: 'tea' }, { toolCallId: '1' })).toEqual({
    input: { text: 'tea' },
    toolCallId: '1',
  })
  await tools.search.execute({ text: 'tea' }, { toolCallId: '2' })
  const third = tools.search.execute({ text: 'tea' }, { toolCallId: '3' })
  await expect(third).rejects.toEqual(exhausted({ bound: 'loop', tool: 'search' }))
})
