import { expect, test } from '@jest/globals'
import { type RunBudgetOptions, runBudget } from '@sluice/quotas/budgets'
import { FakeClock } from '@sluice/testkit'
import { MODEL, prices, textOf } from './fake-model.ts'

/** Shapes of `@openai/agents-core`. `test/budgets/sdks` uses the package itself. */
interface Model {
  getResponse(request: Request): Promise<Response>
  getStreamedResponse(request: Request): AsyncIterable<StreamEvent>
}
interface Request {
  readonly input: string
  readonly modelSettings: { readonly maxTokens?: number; readonly temperature?: number }
  readonly tools: readonly object[]
  readonly signal?: AbortSignal
}
interface Response {
  readonly usage: object
  readonly output: readonly object[]
}
type StreamEvent = Readonly<Record<string, unknown>>

class AgentsModel implements Model {
  readonly #events: readonly StreamEvent[]
  readonly requests: Request[] = []
  isReturned = false

  constructor(events: readonly StreamEvent[]) {
    this.#events = events
  }

  async getResponse(request: Request): Promise<Response> {
    this.requests.push(request)
    return { usage: usage(), output: [{ type: 'message' }] }
  }

  async *getStreamedResponse(request: Request): AsyncGenerator<StreamEvent> {
    this.requests.push(request)
    try {
      yield* this.#events
    } finally {
      this.isReturned = true
    }
  }
}

const usage = () => ({
  inputTokens: 100,
  outputTokens: 50,
  totalTokens: 150,
  inputTokensDetails: [{ cached_tokens: 40 }],
  outputTokensDetails: [{ reasoning_tokens: 10 }],
})
const COST = prices.costOf(MODEL, { input: 60, cachedInput: 40, output: 50 })
const request: Request = { input: 'Find green tea', modelSettings: { temperature: 1 }, tools: [] }
const text = (tokens: number): StreamEvent => ({ type: 'output_text_delta', delta: textOf(tokens) })
const done: StreamEvent = { type: 'response_done', response: { usage: usage() } }

function opened(events: readonly StreamEvent[], options: Partial<RunBudgetOptions> = {}) {
  const model = new AgentsModel(events)
  const budget = runBudget({ usd: 0.01, prices, clock: new FakeClock(), ...options })
  return { model, budget, provider: budget.wrap({ getModel: async (_name?: string): Promise<Model> => model }) }
}

test('responses of the OpenAI Agents SDK are billed, and have a maximum', async () => {
  const { model, budget, provider } = opened([])
  const wrapped = await provider.getModel(MODEL)
  expect(await wrapped.getResponse(request)).toMatchObject({ output: [{ type: 'message' }] })
  expect(budget.spent).toMatchObject({ microUsd: COST, tokens: 150, calls: 1 })
  // what $0.01 can pay, since the default maximum cannot be paid
  expect(model.requests[0].modelSettings).toEqual({ temperature: 1, maxTokens: expect.any(Number) })
  expect(model.requests[0].modelSettings.maxTokens).toBeGreaterThan(900)
  expect(model.requests[0].modelSettings.maxTokens).toBeLessThan(1_000)
  await expect(provider.getModel('model-b')).rejects.toThrow('SLUICE_BAD_OPTION')
})

test('streams of the OpenAI Agents SDK are billed', async () => {
  const { model, budget, provider } = opened([{ type: 'response_started' }, text(20), text(30), done])
  const seen: unknown[] = []
  for await (const { type } of (await provider.getModel(MODEL)).getStreamedResponse(request)) seen.push(type)
  expect(seen).toEqual(['response_started', 'output_text_delta', 'output_text_delta', 'response_done'])
  expect(budget.spent).toMatchObject({ microUsd: COST, tokens: 150 })
  expect(model.isReturned).toBe(true)
})

test('a stream ends when the budget is used up, and its reader may leave earlier', async () => {
  const { model, budget, provider } = opened(Array.from({ length: 100 }, () => text(20)))
  const wrapped = await provider.getModel(MODEL)
  for await (const event of wrapped.getStreamedResponse(request)) if (event.type === 'output_text_delta') break
  expect(model.isReturned).toBe(true)
  const left = budget.spent.tokens
  expect(left).toBeLessThan(40)
  const read = async (): Promise<void> => {
    for await (const _event of wrapped.getStreamedResponse(request)) {
      // reads until the end
    }
  }
  await expect(read()).rejects.toMatchObject({ code: 'SLUICE_BUDGET_EXHAUSTED', bound: 'usd' })
  expect(budget.spent.microUsd).toBeLessThanOrEqual(10_000 + 200)
  await budget.close()
})

test('raw events of tools and reasoning are counted, until the usage is known', async () => {
  const raw = (event: object): StreamEvent => ({ type: 'model', event })
  const events = [
    raw({ type: 'response.function_call_arguments.delta', delta: textOf(3) }),
    raw({ type: 'response.reasoning_summary_text.delta', delta: textOf(4) }),
    raw({ type: 'response.output_text.delta', delta: 'counted as output_text_delta' }),
    raw({ choices: [{ delta: { tool_calls: [{ function: { arguments: textOf(5) } }] } }] }),
    raw({ choices: 'none' }),
    { type: 'model' },
    text(7),
  ]
  const { budget, provider } = opened(events, {
    countTokens: (given) => (given.startsWith('word') ? given.length / 4 : 0),
  })
  for await (const _event of (await provider.getModel(MODEL)).getStreamedResponse(request)) {
    // reads all
  }
  expect(budget.spent.tokens).toBe(19)
})

test('the signal of a request aborts it', async () => {
  const { budget, provider } = opened([text(1), text(1)])
  const leaves = new AbortController()
  const wrapped = await provider.getModel(MODEL)
  const events = wrapped.getStreamedResponse({ ...request, signal: leaves.signal })[Symbol.asyncIterator]()
  await events.next()
  leaves.abort(new Error('the user left'))
  await expect(events.next()).rejects.toThrow('the user left')
  expect(budget.end).toBeUndefined()
})
