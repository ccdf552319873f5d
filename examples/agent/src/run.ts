import type { LanguageModelV4, LanguageModelV4Prompt } from '@ai-sdk/provider'
import type { Client } from '@modelcontextprotocol/client'
import type { Clock } from '@sluice/limiter-core/backend'
import { type RunReport, runBudget } from '@sluice/quotas/budgets'
import { prices, StubModel } from './model.ts'
import { connectTools } from './tools.ts'

export interface RunOptions {
  readonly usd: string
  readonly clock?: Clock | undefined
}

/** Runs four sub-agents in parallel until their budgets end them. Returns the bill. */
export async function run({ usd, clock }: RunOptions): Promise<RunReport> {
  const model = new StubModel(clock)
  const client = await connectTools()
  // the whole run: at most so many dollars, 200 calls and a minute
  const budget = runBudget({
    usd,
    calls: 200,
    seconds: 60,
    prices,
    // a call holds what it may cost at most, unless it streams
    maxOutputTokens: 400,
    loops: { repeats: 3 },
    clock,
  })

  const agents = ['searcher', 'reader', 'planner'].map((name) => {
    // each sub-agent: at most half of each bound
    const child = budget.child({ name, share: 0.5 })
    return callTools(name, child.wrap(model), child.wrap(client))
  })
  const writer = budget.child({ name: 'writer' })
  await Promise.allSettled([...agents, write(writer.wrap(model))])

  const report = budget.report()
  await budget.close()
  await client.close()
  return report
}

/** Calls the model, then the tool that it asks for, and so on. */
async function callTools(name: string, model: LanguageModelV4, tools: Client): Promise<void> {
  const prompt: LanguageModelV4Prompt = [{ role: 'system', content: name }]
  for (;;) {
    const { content } = await model.doGenerate({ prompt })
    for (const part of content) {
      if (part.type !== 'tool-call') continue
      const result = await tools.callTool({ name: part.toolName, arguments: JSON.parse(part.input) })
      prompt.push({ role: 'user', content: [{ type: 'text', text: JSON.stringify(result.content) }] })
    }
  }
}

/** Reads a stream of the model. */
async function write(model: LanguageModelV4): Promise<string> {
  const { stream } = await model.doStream({ prompt: [{ role: 'system', content: 'Write about tea' }] })
  let text = ''
  for await (const part of stream) if (part.type === 'text-delta') text += part.delta
  return text
}
