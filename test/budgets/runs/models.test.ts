import type { LanguageModelV4 } from '@ai-sdk/provider'
import { describe, expect, test } from '@jest/globals'
import { memoryBackend } from '@sluice/limiter-core'
import { type RunBudgetOptions, runBudget } from '@sluice/quotas/budgets'
import { FakeClock } from '@sluice/testkit'
import { frontBackend } from '../../contracts/front-backend.ts'
import { FakeModel, type FakeModelOptions, flushed, MODEL, played, prices, promptOf, readAll } from './fake-model.ts'

function opened(options: Partial<RunBudgetOptions> = {}, model: Partial<FakeModelOptions> = {}) {
  const clock = new FakeClock()
  const fake = new FakeModel({ clock, outputTokens: () => 300, ...model })
  const budget = runBudget({ usd: 1, prices, clock, ...options })
  return { clock, fake, budget, wrapped: budget.wrap(fake) }
}

const exhausted = (more: object = {}) => expect.objectContaining({ code: 'SLUICE_BUDGET_EXHAUSTED', ...more })

/** A model with one answer. */
function answering(usage: unknown, parts: readonly object[] = [], text = 'word'): LanguageModelV4 {
  return {
    specificationVersion: 'v4',
    provider: 'fake',
    modelId: MODEL,
    supportedUrls: {},
    doGenerate: async () =>
      ({ content: [{ type: 'text', text }], finishReason: { unified: 'stop' }, usage, warnings: [] }) as never,
    doStream: async () => ({ stream: ReadableStream.from([...parts, { type: 'finish', usage }]) as never }),
  }
}

test('a wrapped model has the properties and the type of the model', async () => {
  const { wrapped, fake, clock } = opened()
  const typed: LanguageModelV4 = wrapped
  expect([typed.specificationVersion, typed.provider, typed.modelId]).toEqual(['v4', 'fake', MODEL])
  // private fields of the class are read on the model itself
  await played(clock, readAll(wrapped, promptOf(10)))
  expect(wrapped.charged).toBe(fake.charged)
})

test('the bill is what the provider reports', async () => {
  const { clock, fake, budget, wrapped } = opened()
  await played(clock, readAll(wrapped, promptOf(100)))
  const { usage } = await played(clock, wrapped.doGenerate(promptOf(100)))
  expect(usage.outputTokens.total).toBe(300)
  expect(budget.spent.microUsd).toBe(fake.charged)
  const [{ input }] = fake.calls
  expect(budget.spent).toMatchObject({ calls: 2, tokens: 2 * (input + 300) })
  expect((await budget.left()).microUsd).toBe(1_000_000 - fake.charged)
})

test('a provider that reports no usage is billed by estimates', async () => {
  const { clock, fake, budget, wrapped } = opened({}, { reports: false })
  await played(clock, readAll(wrapped, promptOf(100)))
  await played(clock, wrapped.doGenerate(promptOf(100)))
  expect(budget.spent.microUsd).toBe(fake.charged)
})

test.each<[string, unknown, number]>([
  ['version 4', { inputTokens: { total: 10, cacheRead: 4 }, outputTokens: { total: 5 } }, 15 + 5 + 50],
  ['version 2', { inputTokens: 10, outputTokens: 5, totalTokens: 15, cachedInputTokens: 4 }, 15 + 5 + 50],
  ['more cached than sent', { inputTokens: 10, outputTokens: 5, cachedInputTokens: 400 }, 13 + 50],
])('usage of %s has cached tokens', async (_what, usage, micros) => {
  const { budget } = opened()
  await budget.wrap(answering(usage)).doGenerate(promptOf(1))
  expect(budget.spent).toMatchObject({ microUsd: micros, tokens: 15 })
})

test.each([
  undefined,
  null,
  'much',
  {},
  { inputTokens: -1, outputTokens: Number.NaN },
  { inputTokens: { total: '5' } },
])('usage that is none is estimated: %j', async (usage) => {
  const { budget } = opened({ countTokens: (text) => text.length })
  const input = JSON.stringify(promptOf(1).prompt).length
  await budget.wrap(answering(usage)).doGenerate(promptOf(1))
  expect(budget.spent.tokens).toBe(input + 4)
})

test('streams count text, reasoning and the input of tools once', async () => {
  const { budget } = opened({ countTokens: (text) => text.length })
  const parts = [
    { type: 'text-delta', id: '1', delta: 'abc' },
    { type: 'reasoning-delta', id: '2', delta: 'de' },
    { type: 'tool-input-delta', id: 'call', delta: '{"a":1}' },
    { type: 'tool-call', toolCallId: 'call', toolName: 't', input: '{"a":1}' },
    { type: 'tool-call', toolCallId: 'other', toolName: 't', input: '{}' },
    { type: 'raw', rawValue: 'not counted' },
    null,
  ]
  const { stream } = await budget.wrap(answering(undefined, parts as object[])).doStream(promptOf(1))
  for await (const _part of stream) {
    // reads all
  }
  expect(budget.spent.tokens).toBe(JSON.stringify(promptOf(1).prompt).length + 3 + 2 + 7 + 3)
})

test('binary data of prompts is not estimated', async () => {
  const { budget } = opened({ countTokens: (text) => text.length })
  const data = 'A'.repeat(100_000)
  const content = [
    { type: 'file' as const, mediaType: 'image/png', data: { type: 'data' as const, data: new Uint8Array(10_000) } },
    { type: 'file' as const, mediaType: 'image/png', data: { type: 'data' as const, data } },
  ]
  await budget.wrap(answering(undefined)).doGenerate({ prompt: [{ role: 'user', content }] })
  expect(budget.spent.tokens).toBeLessThan(300)
})

describe('what is returned to the budget', () => {
  test('a call that the provider refuses costs one call', async () => {
    const { budget } = opened()
    const refuses = (): Promise<never> => Promise.reject(new Error('overloaded'))
    const model: LanguageModelV4 = { ...answering({}), doStream: refuses, doGenerate: refuses }
    await expect(budget.wrap(model).doStream(promptOf(1_000))).rejects.toThrow('overloaded')
    await expect(budget.wrap(model).doGenerate(promptOf(1_000))).rejects.toThrow('overloaded')
    expect(budget.spent).toMatchObject({ microUsd: 0, tokens: 0, calls: 2 })
    expect(await budget.left()).toMatchObject({ microUsd: 1_000_000 })
  })

  test.each(['cancels', 'aborts'] as const)('a reader that %s pays for what was sent', async (way) => {
    const { clock, fake, budget, wrapped } = opened()
    const leaves = new AbortController()
    const { stream } = await wrapped.doStream({ ...promptOf(100), abortSignal: leaves.signal })
    const reader = stream.getReader()
    await reader.read()
    const read = reader.read()
    read.catch(() => {})
    await flushed()
    clock.advance(20)
    await read
    if (way === 'cancels') await reader.cancel()
    else leaves.abort()
    await flushed()
    expect(fake.calls[0].isAborted).toBe(true)
    expect(budget.spent.microUsd).toBe(fake.charged)
    expect(await budget.left()).toMatchObject({ microUsd: 1_000_000 - fake.charged })
    await budget.close()
    expect(clock.pending).toBe(0)
  })

  test('a stream that is no longer read is settled when the run ends', async () => {
    const { clock, fake, budget, wrapped } = opened({ seconds: 100 })
    const { stream } = await wrapped.doStream(promptOf(100))
    await stream.getReader().read()
    clock.advance(100_000)
    await flushed()
    expect(budget.end).toMatchObject({ bound: 'seconds' })
    expect(budget.spent.microUsd).toBe(prices.costOf(MODEL, { input: fake.calls[0].input }))
    await budget.close()
    expect(clock.pending).toBe(0)
  })

  test('a call that is aborted while it waits holds nothing', async () => {
    const { clock, budget, wrapped } = opened({ usd: 0.004 })
    const leaves = new AbortController()
    const first = wrapped.doGenerate({ ...promptOf(1), maxOutputTokens: 300 })
    const second = wrapped.doGenerate({ ...promptOf(1), maxOutputTokens: 300, abortSignal: leaves.signal })
    second.catch(() => {})
    await flushed()
    leaves.abort(new Error('the user left'))
    await expect(second).rejects.toThrow('the user left')
    await played(clock, first)
    expect(budget.spent.calls).toBe(1)
    await expect(wrapped.doGenerate({ ...promptOf(1), abortSignal: leaves.signal })).rejects.toThrow('the user left')
    await budget.close()
    expect(clock.pending).toBe(0)
  })
})

test.each(['abort', 'finish'] as const)(
  'a call whose run ends while the backend answers is not made: %s',
  async (onExhausted) => {
    const clock = new FakeClock()
    let wait: Promise<void> | undefined
    const backend = frontBackend('late', memoryBackend({ clock }), async (ask) => {
      await wait
      return ask()
    })
    const fake = new FakeModel({ clock })
    const budget = runBudget({ usd: 1, seconds: 5, prices, clock, backend, onExhausted, deadlineMs: '1m' })
    let answer = (): void => {}
    wait = new Promise((resolve) => {
      answer = resolve
    })
    const calls = [
      budget.wrap(fake).doGenerate(promptOf(1)),
      budget.call({ name: 'tool' }, () => fake.doStream(promptOf(1))),
    ]
    const ends = Promise.allSettled(calls)
    await flushed()
    clock.advance(5_000)
    answer()
    expect((await ends).map((end) => end.status === 'rejected' && end.reason)).toEqual([exhausted(), exhausted()])
    expect(fake.calls).toEqual([])
    expect(budget.spent).toMatchObject({ microUsd: 0, calls: 0 })
    expect(await budget.left()).toMatchObject({ microUsd: 1_000_000 })
    await budget.close()
    expect(clock.pending).toBe(0)
  },
)

test('a call that states no maximum is given one, and never more than is left', async () => {
  const { clock, fake, wrapped } = opened({ tokens: 500, usd: undefined, maxOutputTokens: 200 })
  const { usage } = await played(clock, wrapped.doGenerate(promptOf(10)))
  expect(usage.outputTokens.total).toBe(200)
  const rest = await played(clock, wrapped.doGenerate({ ...promptOf(10), maxOutputTokens: 1_000 }))
  const { input } = fake.calls[0]
  expect(rest.usage.outputTokens.total).toBe(500 - 200 - 2 * input)
  await expect(wrapped.doGenerate(promptOf(10))).rejects.toEqual(exhausted({ bound: 'tokens', limit: 500 }))
})

test('a stream whose backend fails is aborted, and the run goes on when it has recovered', async () => {
  const clock = new FakeClock()
  let isDown = false
  const backend = frontBackend('front', memoryBackend({ clock }), (ask) =>
    isDown ? Promise.reject(new Error('down')) : Promise.resolve(ask()),
  )
  const fake = new FakeModel({ clock, outputTokens: () => 500 })
  const budget = runBudget({ usd: 1, prices, clock, backend })
  const wrapped = budget.wrap(fake)
  const reading = readAll(wrapped, promptOf(10))
  await flushed()
  isDown = true
  await expect(played(clock, reading)).rejects.toMatchObject({ code: 'SLUICE_BACKEND_FAILED' })
  expect(fake.calls[0].isAborted).toBe(true)
  expect(budget.end).toBeUndefined()
  expect(budget.spent.microUsd).toBe(fake.charged)
  isDown = false
  clock.advance(60_000)
  await played(clock, readAll(wrapped, promptOf(10)))
  expect(budget.spent.microUsd).toBe(fake.charged)
  await played(clock, budget.close())
})

test('a running call keeps its units longer than maxHoldMs', async () => {
  const { clock, budget } = opened({ maxHoldMs: '10s' })
  let finish = (): void => {}
  const work = new Promise<void>((resolve) => {
    finish = resolve
  })
  const call = budget.call({ name: 'slow', cost: { usd: '0.25' } }, () => work)
  for (let second = 0; second < 100; second++) {
    await flushed()
    clock.advance(1_000)
  }
  expect(await budget.left()).toMatchObject({ usd: '0.750000' })
  finish()
  await call
  expect(budget.spent.usd).toBe('0.250000')
})

test('a model without a price is refused if dollars are bounded', () => {
  const { budget, fake } = opened()
  const unknown = { ...answering({}), modelId: 'model-b' }
  expect(() => budget.wrap(unknown)).toThrow(/SLUICE_BAD_OPTION: wrap: model: expected a model with prices of input/)
  expect(() => budget.wrap({ getModel: 1 })).toThrow('a model, a model provider or an MCP client')
  expect(() => budget.wrap(undefined as never)).toThrow('SLUICE_BAD_OPTION')
  expect(budget.wrap(unknown, { model: MODEL }).modelId).toBe('model-b')
  expect(runBudget({ calls: 1 }).wrap(unknown).modelId).toBe('model-b')
  expect(() => runBudget({ calls: 1 }).child({ usd: 1 }).wrap(fake)).toThrow('SLUICE_BAD_OPTION')
})

test('a counter of tokens that fails makes no call free', async () => {
  const { budget } = opened({ countTokens: () => Number.NaN })
  await budget.wrap(answering(undefined)).doGenerate(promptOf(1))
  expect(budget.spent.tokens).toBeGreaterThan(40)
  const throwing = opened({
    countTokens: () => {
      throw new Error('broken')
    },
  })
  await expect(throwing.budget.wrap(answering(undefined)).doGenerate(promptOf(1))).rejects.toThrow('broken')
})
