import { createOpenAICompatible } from '@ai-sdk/openai-compatible'
import type { RunBudget, RunBudgetOptions } from '@sluice/quotas/budgets'
import { runBudget } from '@sluice/quotas/budgets'
import { FakeClock } from '@sluice/testkit'
import { generateText, type LanguageModel, stepCountIs, streamText, ToolLoopAgent, tool, wrapLanguageModel } from 'ai'
import { expect } from 'expect'
import { z } from 'zod'
import { CHUNK_TOKENS, MODEL, played, prices, textOf } from '../runs/fake-model.ts'
import { FakeOpenAi, type FakeOpenAiOptions, hasToolResult } from './fake-openai.ts'
import type { Scenario } from './scenario.ts'

const CHUNK = prices.costOf(MODEL, { output: CHUNK_TOKENS })

function opened(options: Partial<RunBudgetOptions> = {}, provider: Partial<FakeOpenAiOptions> = {}) {
  const clock = new FakeClock()
  const api = new FakeOpenAi({ clock, ...provider })
  const { fetch } = api
  const model = createOpenAICompatible({ name: 'fake', baseURL: 'http://fake.test/v1', fetch, includeUsage: true })(
    MODEL,
  )
  const budget = runBudget({ usd: 1, prices, clock, ...options })
  return { clock, api, model, budget, wrapped: budget.wrap(model) }
}

const search = tool({
  description: 'Searches the web.',
  inputSchema: z.object({ text: z.string() }),
  execute: async ({ text }) => `found ${text}`,
})

/** Reads a stream as applications do. Rejects with the error that it contains. */
async function streamed(options: Parameters<typeof streamText>[0]): Promise<string> {
  const errors: unknown[] = []
  let text = ''
  const result = streamText({ ...options, onError: ({ error }) => void errors.push(error) })
  for await (const part of result.textStream) text += part
  if (errors.length > 0) throw errors[0]
  return text
}

/** Checks that the budget has the bill of the provider, and holds nothing. */
async function checkSettled(budget: RunBudget, api: FakeOpenAi, clock: FakeClock): Promise<void> {
  expect(budget.spent.microUsd).toBe(api.charged)
  expect((await budget.left()).microUsd).toBe(1_000_000 - api.charged)
  await budget.close()
  expect(clock.pending).toBe(0)
}

const exhausted = (more: object = {}) => expect.objectContaining({ code: 'SLUICE_BUDGET_EXHAUSTED', ...more })
const toolThenText = {
  turn: (request) => (hasToolResult(request) ? { writes: 300 } : { tool: 'search', args: { text: 'tea' } }),
} satisfies Partial<FakeOpenAiOptions>

export const aiSdkScenarios: readonly Scenario[] = [
  {
    name: 'generateText with a tool is billed as the provider charges it',
    async run() {
      const { clock, api, budget, wrapped } = opened({}, toolThenText)
      const tools = budget.tools({ search })
      const { text, steps } = await played(
        clock,
        generateText({ model: wrapped, tools, prompt: 'Find tea', stopWhen: stepCountIs(5) }),
      )
      expect(text).toBe(textOf(300))
      expect(steps.flatMap(({ toolResults }) => toolResults).map(({ output }) => output)).toEqual(['found tea'])
      expect(budget.spent.calls).toBe(3)
      // a call that states no maximum receives one
      expect(api.requests.map(({ max_tokens }) => max_tokens)).toEqual([4_096, 4_096])
      await checkSettled(budget, api, clock)
    },
  },
  {
    name: 'streamText with a tool is billed as the provider charges it',
    async run() {
      const { clock, api, budget, wrapped } = opened({}, toolThenText)
      const tools = budget.tools({ search })
      const options = { model: wrapped, tools, prompt: 'Find tea', stopWhen: stepCountIs(5) }
      expect(await played(clock, streamed(options))).toBe(textOf(300))
      expect(budget.spent.calls).toBe(3)
      await checkSettled(budget, api, clock)
    },
  },
  {
    name: 'agents and middleware of the SDK work with a wrapped model',
    async run() {
      const { clock, api, budget, wrapped } = opened({}, toolThenText)
      const seen: string[] = []
      const logged = wrapLanguageModel({
        model: wrapped,
        middleware: {
          specificationVersion: 'v3',
          wrapGenerate: ({ doGenerate, model }) => {
            seen.push(model.modelId)
            return doGenerate()
          },
        },
      })
      const agent = new ToolLoopAgent({ model: logged, tools: budget.tools({ search }) })
      const { text } = await played(clock, agent.generate({ prompt: 'Find tea' }))
      expect(text).toBe(textOf(300))
      expect(seen).toEqual([MODEL, MODEL])
      await checkSettled(budget, api, clock)
    },
  },
  {
    name: 'streamText is aborted within one chunk, and nothing is sent afterwards',
    async run() {
      const { clock, api, budget, wrapped } = opened({ usd: 0.005 }, { turn: () => ({ writes: 5_000 }) })
      await expect(played(clock, streamed({ model: wrapped, prompt: 'Write' }))).rejects.toEqual(
        exhausted({ bound: 'usd', limit: '0.005000' }),
      )
      expect(api.calls).toEqual([expect.objectContaining({ isAborted: true, late: 0 })])
      expect(api.charged).toBeGreaterThan(5_000 - 2 * CHUNK)
      expect(api.charged).toBeLessThanOrEqual(5_000 + CHUNK)
      expect(budget.spent.microUsd).toBeLessThanOrEqual(5_000 + CHUNK)
      const more = { model: wrapped, prompt: 'More' }
      await expect(played(clock, generateText(more))).rejects.toEqual(exhausted())
      await expect(played(clock, streamed(more))).rejects.toEqual(exhausted())
      expect(api.calls).toHaveLength(1)
      await budget.close()
      expect(clock.pending).toBe(0)
    },
  },
  ...[{ tool: 'search', args: { text: textOf(5_000) } }, { thinks: 5_000 }].map((turn) => ({
    name: `${'tool' in turn ? 'the arguments of a tool count' : 'reasoning counts'} while it streams`,
    async run() {
      const { clock, api, budget, wrapped } = opened({ usd: 0.005 }, { turn: () => turn })
      const work = streamed({ model: wrapped, tools: budget.tools({ search }), prompt: 'Find tea' })
      await expect(played(clock, work)).rejects.toEqual(exhausted({ bound: 'usd' }))
      expect(api.calls).toEqual([expect.objectContaining({ isAborted: true, late: 0 })])
      expect(api.charged).toBeLessThanOrEqual(5_000 + CHUNK)
      await budget.close()
      expect(clock.pending).toBe(0)
    },
  })),
  {
    name: 'an agent that calls a tool again and again is ended',
    async run() {
      const { clock, api, budget, wrapped } = opened(
        { loops: { repeats: 3 } },
        { turn: () => ({ tool: 'search', args: { text: 'tea' } }) },
      )
      const work = generateText({
        model: wrapped,
        tools: budget.tools({ search }),
        prompt: 'Find tea',
        stopWhen: stepCountIs(50),
      })
      await expect(played(clock, work)).rejects.toEqual(exhausted({ bound: 'loop', tool: 'search', limit: 3 }))
      expect(api.calls).toHaveLength(4)
      expect(budget.spent).toMatchObject({ calls: 4 + 3, microUsd: api.charged })
      await budget.close()
      expect(clock.pending).toBe(0)
    },
  },
  {
    name: 'a reader of streamText that aborts pays for what was sent',
    async run() {
      const { clock, api, budget, wrapped } = opened({}, { turn: () => ({ writes: 5_000 }) })
      const leaves = new AbortController()
      const { textStream } = streamText({ model: wrapped, prompt: 'Write', abortSignal: leaves.signal })
      let read = 0
      const reading = (async () => {
        for await (const _part of textStream) if (++read === 3) leaves.abort(new Error('the user left'))
      })()
      await played(clock, reading).catch(() => {})
      expect(api.calls).toEqual([expect.objectContaining({ isAborted: true, late: 0 })])
      expect(read).toBeLessThanOrEqual(4)
      // the input of a call that did not end is an estimate
      const [{ input, output }] = api.calls
      expect(budget.spent.tokens).toBeGreaterThanOrEqual(input + output)
      expect((await budget.left()).microUsd).toBe(1_000_000 - budget.spent.microUsd)
      expect(budget.end).toBeUndefined()
      await budget.close()
      expect(clock.pending).toBe(0)
    },
  },
  {
    name: 'a call that the SDK repeats after a refusal costs one call and no tokens for the refusal',
    async run() {
      const { clock, api, budget, wrapped } = opened({}, { statusOf: (call) => (call === 0 ? 503 : 200) })
      await played(clock, generateText({ model: wrapped, prompt: 'Write' }))
      expect(api.requests).toHaveLength(2)
      expect(budget.spent.calls).toBe(2)
      await checkSettled(budget, api, clock)
    },
  },
  {
    name: '20 parallel sub-agents spend at most $0.50 and one chunk each',
    async run() {
      const turn: FakeOpenAiOptions['turn'] = (request, random) =>
        hasToolResult(request) || random.whole(3) > 0
          ? { writes: 100 + random.whole(1_400) }
          : { tool: 'search', args: { text: `tea ${random.whole(1e6)}` } }
      const { clock, api, budget, model } = opened({ usd: 0.5 }, { turn })
      const children = Array.from({ length: 20 }, (_, index) => budget.child({ name: `agent-${index}` }))
      const agents = children.map((child, index) => agent(child, model, index))
      const ends = await played(clock, Promise.allSettled(agents))
      expect(ends.map((end) => end.status === 'rejected' && end.reason)).toEqual(children.map(() => exhausted()))
      expect(budget.end).toMatchObject({ bound: 'usd', budget: 'run' })
      expect(api.charged).toBeLessThanOrEqual(500_000 + 20 * CHUNK)
      expect(api.charged).toBeGreaterThan(450_000)
      expect(budget.spent.microUsd).toBeLessThanOrEqual(500_000 + 20 * CHUNK)
      expect(children.reduce((sum, { spent }) => sum + spent.microUsd, 0)).toBe(budget.spent.microUsd)
      expect(children.reduce((sum, { spent }) => sum + spent.calls, 0)).toBe(budget.spent.calls)
      expect(api.calls.filter(({ late }) => late > 0)).toEqual([])
      await budget.close()
      expect(clock.pending).toBe(0)
    },
  },
]

/** A sub-agent that works until its budget has ended. A fifth of its calls are not streamed. */
async function agent(child: RunBudget, model: Exclude<LanguageModel, string>, index: number): Promise<never> {
  const options = { model: child.wrap(model), tools: child.tools({ search }), stopWhen: stepCountIs(5) }
  for (let call = index; ; call++) {
    const prompt = `Write ${textOf(300 + 50 * (call % 20))}`
    if (call % 5 === 4) await generateText({ ...options, prompt, maxOutputTokens: 600 })
    else await streamed({ ...options, prompt })
  }
}
