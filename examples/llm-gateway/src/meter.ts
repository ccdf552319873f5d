import type { RequestSluice } from '@sluice/express'
import { priceTable } from '@sluice/quotas/budgets'
import type { Request } from 'express'
import type OpenAI from 'openai'

/** Prices for a million tokens. */
export const prices = priceTable({
  currency: 'USD',
  items: { 'stub-small': { input: '1', output: '4' }, 'stub-large': { input: '5', output: '20' } },
})

/** Counts words. Replace it with the tokenizer of your models: until the last chunk, it is the only count there is. */
export function tokensIn(text: string): number {
  return text.match(/\S+/g)?.length ?? 0
}

export function promptTokens({ body }: Request): number {
  const messages: readonly { readonly content?: unknown }[] = Array.isArray(body?.messages) ? body.messages : []
  return messages.reduce((sum, { content }) => sum + tokensIn(String(content ?? '')), 0)
}

/** Tokens and money that one call has used. */
export class Meter {
  #input = 0
  #output = 0
  readonly #model: string
  readonly #sluice: RequestSluice

  constructor(model: string, sluice: RequestSluice) {
    this.#model = model
    this.#sluice = sluice
  }

  get tokens(): number {
    return this.#input + this.#output
  }

  /** In millionths of a dollar. */
  get cost(): number {
    return prices.costOf(this.#model, { input: this.#input, output: this.#output })
  }

  /** Reports tokens while they are streamed. Returns whether the call may continue. */
  async add(input: number, output: number): Promise<boolean> {
    const before = this.cost
    this.#input += input
    this.#output += output
    const answers = [this.#sluice.used(input + output, 'tokens'), this.#sluice.used(this.cost - before, 'budget')]
    return !(await Promise.all(answers)).includes(false)
  }

  /** Replaces the count by the one of the model. */
  settle({ prompt_tokens: input, completion_tokens: output }: OpenAI.CompletionUsage): void {
    this.#input = input
    this.#output = output
  }
}
