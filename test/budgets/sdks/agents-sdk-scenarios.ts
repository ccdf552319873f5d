import { Agent, Runner, type Tool, tool } from '@openai/agents-core'
import { OpenAIProvider } from '@openai/agents-openai'
import type { RunBudget, RunBudgetOptions } from '@sluice/quotas/budgets'
import { runBudget } from '@sluice/quotas/budgets'
import { FakeClock } from '@sluice/testkit'
import { expect } from 'expect'
import OpenAI from 'openai'
import { z } from 'zod'
import { CHUNK_TOKENS, MODEL, played, prices, textOf } from '../runs/fake-model.ts'
import { FakeOpenAi, type FakeOpenAiOptions, hasToolResult } from './fake-openai.ts'
import type { Scenario } from './scenario.ts'

const CHUNK = prices.costOf(MODEL, { output: CHUNK_TOKENS })

type Api = 'chat completions' | 'responses'
const APIS: readonly Api[] = ['chat completions', 'responses']

function opened(api: Api, options: Partial<RunBudgetOptions> = {}, answers: Partial<FakeOpenAiOptions> = {}) {
  const clock = new FakeClock()
  const fake = new FakeOpenAi({ clock, ...answers })
  const { fetch } = fake
  const client = new OpenAI({ apiKey: 'none', baseURL: 'http://fake.test/v1', fetch, maxRetries: 0 })
  const provider = new OpenAIProvider({ openAIClient: client, useResponses: api === 'responses' })
  const budget = runBudget({ usd: 1, prices, clock, ...options })
  return { clock, fake, provider, budget }
}

function runnerOf(budget: RunBudget, provider: OpenAIProvider): Runner {
  return new Runner({ modelProvider: budget.wrap(provider), tracingDisabled: true })
}

const work = ({ text }: { readonly text: string }): string => `found ${text}`

function agentOf(budget: RunBudget, tools: readonly Tool[] = [], maxTokens?: number): Agent {
  const execute = budget.guard(work, { name: 'search', compare: (input) => input })
  const parameters = z.object({ text: z.string() })
  const search = tool({ name: 'search', description: 'Searches the web.', parameters, execute })
  const modelSettings = maxTokens === undefined ? {} : { maxTokens }
  return new Agent({ name: 'agent', instructions: 'Find it.', model: MODEL, modelSettings, tools: [search, ...tools] })
}

/** Runs an agent, and reads its text while it is written. */
async function streamed(runner: Runner, agent: Agent, input: string): Promise<string> {
  const result = await runner.run(agent, input, { stream: true, maxTurns: 60 })
  let text = ''
  for await (const part of result.toTextStream()) text += part
  await result.completed
  return text
}

const exhausted = (more: object = {}) => expect.objectContaining({ code: 'SLUICE_BUDGET_EXHAUSTED', ...more })
const toolThenText: Partial<FakeOpenAiOptions> = {
  turn: (request) => (hasToolResult(request) ? { writes: 300 } : { tool: 'search', args: { text: 'tea' } }),
}

export const agentsSdkScenarios: readonly Scenario[] = APIS.flatMap((api): Scenario[] => [
  {
    name: `a run with a tool is billed as the provider charges it, with ${api}`,
    async run() {
      const { clock, fake, provider, budget } = opened(api, {}, toolThenText)
      const result = await played(clock, runnerOf(budget, provider).run(agentOf(budget), 'Find tea'))
      expect(result.finalOutput).toBe(textOf(300))
      expect(result.rawResponses).toHaveLength(2)
      expect(budget.spent).toMatchObject({ microUsd: fake.charged, calls: 3 })
      expect(fake.requests.map((sent) => sent.max_tokens ?? sent.max_output_tokens)).toEqual([4_096, 4_096])
      expect((await budget.left()).microUsd).toBe(1_000_000 - fake.charged)
      await budget.close()
      expect(clock.pending).toBe(0)
    },
  },
  {
    name: `a streamed run with a tool is billed as the provider charges it, with ${api}`,
    async run() {
      const { clock, fake, provider, budget } = opened(api, {}, toolThenText)
      const text = await played(clock, streamed(runnerOf(budget, provider), agentOf(budget), 'Find tea'))
      expect(text).toBe(textOf(300))
      expect(budget.spent).toMatchObject({ microUsd: fake.charged, calls: 3 })
      expect((await budget.left()).microUsd).toBe(1_000_000 - fake.charged)
      await budget.close()
      expect(clock.pending).toBe(0)
    },
  },
  {
    name: `a streamed run is aborted within one chunk, and nothing is sent afterwards, with ${api}`,
    async run() {
      const { clock, fake, provider, budget } = opened(api, { usd: 0.005 }, { turn: () => ({ writes: 5_000 }) })
      const runner = runnerOf(budget, provider)
      const reading = streamed(runner, agentOf(budget), 'Write')
      await expect(played(clock, reading)).rejects.toEqual(exhausted({ bound: 'usd', limit: '0.005000' }))
      expect(fake.calls).toEqual([expect.objectContaining({ isAborted: true, late: 0 })])
      expect(fake.charged).toBeGreaterThan(5_000 - 1_000)
      expect(fake.charged).toBeLessThanOrEqual(5_000 + CHUNK)
      expect(budget.spent.microUsd).toBeLessThanOrEqual(5_000 + CHUNK)
      await expect(played(clock, runner.run(agentOf(budget), 'More'))).rejects.toEqual(exhausted())
      expect(fake.calls).toHaveLength(1)
      await budget.close()
      expect(clock.pending).toBe(0)
    },
  },
  ...[{ tool: 'search', args: { text: textOf(5_000) } }, { thinks: 5_000 }].map((turn) => ({
    name: `${'tool' in turn ? 'the arguments of a tool count' : 'reasoning counts'} while it streams, with ${api}`,
    async run() {
      const { clock, fake, provider, budget } = opened(api, { usd: 0.005 }, { turn: () => turn })
      const reading = streamed(runnerOf(budget, provider), agentOf(budget), 'Find tea')
      await expect(played(clock, reading)).rejects.toEqual(exhausted({ bound: 'usd' }))
      expect(fake.calls).toEqual([expect.objectContaining({ isAborted: true, late: 0 })])
      expect(fake.charged).toBeLessThanOrEqual(5_000 + CHUNK)
      await budget.close()
      expect(clock.pending).toBe(0)
    },
  })),
  {
    name: `an agent that calls a tool again and again is ended, with ${api}`,
    async run() {
      const turn = { tool: 'search', args: { text: 'tea' } }
      const { clock, fake, provider, budget } = opened(api, { loops: { repeats: 3 } }, { turn: () => turn })
      const running = runnerOf(budget, provider).run(agentOf(budget), 'Find tea', { maxTurns: 50 })
      await expect(played(clock, running)).rejects.toEqual(exhausted({ bound: 'loop', tool: 'search' }))
      expect(budget.spent).toMatchObject({ calls: 4 + 3, microUsd: fake.charged })
      await budget.close()
      expect(clock.pending).toBe(0)
    },
  },
  {
    name: `20 parallel sub-agents spend at most $0.50 and one chunk each, with ${api}`,
    async run() {
      const turn: FakeOpenAiOptions['turn'] = (request, random) =>
        hasToolResult(request) || random.whole(3) > 0
          ? { writes: 100 + random.whole(1_400) }
          : { tool: 'search', args: { text: `tea ${random.whole(1e6)}` } }
      const { clock, fake, provider, budget } = opened(api, { usd: 0.5 }, { turn })
      const children = Array.from({ length: 20 }, (_, index) => budget.child({ name: `agent-${index}` }))
      const ends = await played(
        clock,
        Promise.allSettled(children.map((child, index) => agent(child, provider, index))),
      )
      expect(ends.map((end) => end.status === 'rejected' && end.reason)).toEqual(children.map(() => exhausted()))
      expect(budget.end).toMatchObject({ bound: 'usd', budget: 'run' })
      expect(fake.charged).toBeLessThanOrEqual(500_000 + 20 * CHUNK)
      expect(fake.charged).toBeGreaterThan(450_000)
      expect(budget.spent.microUsd).toBeLessThanOrEqual(500_000 + 20 * CHUNK)
      expect(children.reduce((sum, { spent }) => sum + spent.microUsd, 0)).toBe(budget.spent.microUsd)
      expect(children.reduce((sum, { spent }) => sum + spent.calls, 0)).toBe(budget.spent.calls)
      expect(fake.calls.filter(({ late }) => late > 0)).toEqual([])
      await budget.close()
      expect(clock.pending).toBe(0)
    },
  },
])

/** A sub-agent that works until its budget has ended. A fifth of its runs are not streamed. */
async function agent(child: RunBudget, provider: OpenAIProvider, index: number): Promise<never> {
  const runner = runnerOf(child, provider)
  for (let call = index; ; call++) {
    const input = `Write ${textOf(300 + 50 * (call % 20))}`
    if (call % 5 === 4) await runner.run(agentOf(child, [], 600), input)
    else await streamed(runner, agentOf(child), input)
  }
}
