import type { LanguageModelV4, LanguageModelV4CallOptions, LanguageModelV4StreamPart } from '@ai-sdk/provider'
import { type Clock, systemClock } from '@sluice/limiter-core/backend'
import { priceTable } from '@sluice/quotas/budgets'

export const prices = priceTable({
  currency: 'USD',
  // prices for one million tokens
  items: { 'stub-large': { input: '2.50', output: '10' } },
})

/** What each sub-agent asks for next. None of them ever ends. */
const NEXT: Readonly<Record<string, (step: number) => readonly [tool: string, args: object]>> = {
  // finds nothing, and searches for the same again
  searcher: () => ['search', { text: 'blue tea' }],
  reader: (step) => ['read', { name: `coffee, page ${step}` }],
  planner: (step) => ['note', { text: `step ${step} is to think again` }],
}

/** Stands in for a provider of models, with usage as a provider reports it. */
export class StubModel implements LanguageModelV4 {
  readonly specificationVersion = 'v4'
  readonly provider = 'stub'
  readonly modelId = 'stub-large'
  readonly supportedUrls = {}
  readonly #clock: Clock
  #steps = 0

  constructor(clock: Clock = systemClock) {
    this.#clock = clock
  }

  /** Calls a tool; the first message names the sub-agent. */
  async doGenerate({ prompt, maxOutputTokens = 300 }: LanguageModelV4CallOptions) {
    const step = ++this.#steps
    const [toolName, args] = (NEXT[String(prompt[0].content)] ?? NEXT.planner)(step)
    await this.#pause()
    return {
      content: [{ type: 'tool-call' as const, toolCallId: `call-${step}`, toolName, input: JSON.stringify(args) }],
      finishReason: { unified: 'tool-calls' as const, raw: undefined },
      usage: usageOf(Math.ceil(JSON.stringify(prompt).length / 4), Math.min(300, maxOutputTokens)),
      warnings: [],
    }
  }

  /** Writes a text of 100,000 tokens. */
  async doStream({ prompt, abortSignal }: LanguageModelV4CallOptions) {
    let chunks = 0
    const stream = new ReadableStream<LanguageModelV4StreamPart>({
      pull: async (controller) => {
        await this.#pause()
        if (abortSignal?.aborted) return controller.error(abortSignal.reason)
        if (chunks++ < 10_000) controller.enqueue({ type: 'text-delta', id: 'text', delta: 'tea '.repeat(10) })
        else {
          const usage = usageOf(Math.ceil(JSON.stringify(prompt).length / 4), 100_000)
          controller.enqueue({ type: 'finish', finishReason: { unified: 'stop', raw: undefined }, usage })
          controller.close()
        }
      },
    })
    return { stream }
  }

  #pause(): Promise<void> {
    return new Promise((resolve) => this.#clock.after(2, resolve, { keepAlive: true }))
  }
}

function usageOf(input: number, output: number) {
  return {
    inputTokens: { total: input, noCache: input, cacheRead: undefined, cacheWrite: undefined },
    outputTokens: { total: output, text: output, reasoning: undefined },
  }
}
