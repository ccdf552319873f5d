import { badOption } from '@sluice/limiter-core/backend'
import type { Amounts } from '../level/run-amounts.ts'
import type { CallPlan } from '../level/run-call.ts'
import type { RunLevel } from '../level/run-level.ts'
import type { ModelUsage } from './model-usage.ts'

/** The least output with which a model call makes sense: models of OpenAI refuse a smaller maximum. */
const LEAST_OUTPUT = 16

/** What the calls of a model cost. */
export class ModelPrice {
  readonly level: RunLevel
  readonly #item: string

  /** Throws `SLUICE_BAD_OPTION` if dollars are bounded and the model has no price. */
  constructor(level: RunLevel, item: string) {
    const { prices } = level.run
    const isBounded = level.chain.some(({ limits }) => limits.usd !== undefined)
    const isPriced = prices?.has(item, 'input') && prices.has(item, 'output')
    if (isBounded && !isPriced)
      throw badOption('wrap: model', item, 'a model with prices of input and output in prices')
    this.level = level
    this.#item = item
  }

  /** Estimates the tokens of what is sent. Binary data is not estimated. */
  inputOf(...sent: readonly unknown[]): number {
    return Math.ceil(sent.reduce<number>((sum, one) => sum + this.tokensOf(textOf(one)), 0))
  }

  /** Estimates the tokens of a text, which may be a fraction. */
  tokensOf(text: string): number {
    if (text === '') return 0
    const tokens: unknown = this.level.run.countTokens(text)
    // a counter that fails must not make calls free
    return typeof tokens === 'number' && tokens >= 0 && tokens < 1e12 ? tokens : text.length
  }

  /** Plans a call. `maxOutput`: most output tokens, if the caller states them. */
  plan(input: number, maxOutput: unknown, isStreamed: boolean): CallPlan {
    const { streamTokens, maxOutputTokens } = this.level.run
    const stated = typeof maxOutput === 'number' && maxOutput >= 1 ? Math.ceil(maxOutput) : undefined
    const want = isStreamed ? Math.min(stated ?? streamTokens, streamTokens) : (stated ?? maxOutputTokens)
    return {
      amountsOf: (output) => this.amountsOf({ input, cacheRead: 0, cacheWrite: 0, output }, 0, 0),
      want,
      least: Math.min(want, LEAST_OUTPUT),
      step: isStreamed ? streamTokens : 0,
    }
  }

  /** Returns what a call has used. `input` and `output` are the estimates of what was not reported. */
  amountsOf(usage: ModelUsage, input: number, output: number): Amounts {
    const used = { ...usage, input: usage.input ?? input, output: usage.output ?? output }
    return { usd: this.#costOf(used), tokens: used.input + used.output, calls: 1 }
  }

  #costOf({ input, cacheRead, cacheWrite, output }: ModelUsage & { input: number; output: number }): number {
    const { prices } = this.level.run
    if (!prices?.has(this.#item, 'input') || !prices.has(this.#item, 'output')) return 0
    const cached = prices.has(this.#item, 'cachedInput') ? Math.min(cacheRead, input) : 0
    const written = prices.has(this.#item, 'cacheWrite') ? Math.min(cacheWrite, input - cached) : 0
    return prices.costOf(this.#item, {
      input: input - cached - written,
      output,
      ...(cached > 0 && { cachedInput: cached }),
      ...(written > 0 && { cacheWrite: written }),
    })
  }
}

/** Returns the text of a prompt, of tools or of settings as JSON. */
function textOf(value: unknown): string {
  try {
    return JSON.stringify(value, (key, one: unknown) => (isBinary(key, one) ? undefined : one)) ?? ''
  } catch {
    return ''
  }
}

function isBinary(key: string, value: unknown): boolean {
  if (typeof value === 'string') return key === 'data' || value.startsWith('data:')
  return ArrayBuffer.isView(value) || value instanceof ArrayBuffer
}
