import type { LanguageModelV4, LanguageModelV4CallOptions, LanguageModelV4StreamPart } from '@ai-sdk/provider'
import type { PriceTable } from '@sluice/quotas/budgets'
import { priceTable } from '@sluice/quotas/budgets'
import { type FakeClock, type SeededRandom, seededRandom } from '@sluice/testkit'

export const MODEL = 'model-a'
export const prices: PriceTable = priceTable({
  currency: 'USD',
  items: { [MODEL]: { input: '2.50', output: '10', cachedInput: '1.25' } },
})

/** Largest number of tokens in a chunk. */
export const CHUNK_TOKENS = 12
/** Milliseconds between two chunks. */
export const CHUNK_MS = 20

/** What a provider has charged for one call. */
export interface ProviderCall {
  input: number
  output: number
  /** Number of chunks that were sent after the call was aborted. */
  late: number
  isAborted: boolean
}

export interface FakeModelOptions {
  readonly clock: FakeClock
  readonly seed?: number
  /** Output tokens of a call. Default: 100 to 1,500. */
  readonly outputTokens?: (random: SeededRandom) => number
  /** Whether the end of a stream and a response contain the usage. Default: true. */
  readonly reports?: boolean
}

/** A language model of the AI SDK, whose provider charges each token that it has sent. */
export class FakeModel implements LanguageModelV4 {
  readonly specificationVersion = 'v4'
  readonly provider = 'fake'
  readonly modelId = MODEL
  readonly supportedUrls = {}
  readonly calls: ProviderCall[] = []
  readonly #options: FakeModelOptions
  readonly #random: SeededRandom

  constructor(options: FakeModelOptions) {
    this.#options = options
    this.#random = seededRandom(options.seed ?? 1)
  }

  /** What the provider has charged, in millionths of a dollar. */
  get charged(): number {
    return this.calls.reduce((sum, { input, output }) => sum + prices.costOf(MODEL, { input, output }), 0)
  }

  async doGenerate({ prompt, maxOutputTokens = Number.POSITIVE_INFINITY, abortSignal }: LanguageModelV4CallOptions) {
    const call = this.#open(prompt)
    const { clock } = this.#options
    const output = Math.min(this.#outputTokens(), maxOutputTokens)
    await new Promise<void>((resolve, reject) => {
      const cancel = clock.after((output / CHUNK_TOKENS) * CHUNK_MS, resolve)
      abortSignal?.addEventListener('abort', () => {
        cancel()
        reject(abortSignal.reason)
      })
    })
    call.output = output
    return {
      content: [{ type: 'text' as const, text: textOf(output) }],
      finishReason: { unified: 'stop' as const, raw: undefined },
      usage: this.#usageOf(call),
      warnings: [],
    }
  }

  async doStream({ prompt, maxOutputTokens = Number.POSITIVE_INFINITY, abortSignal }: LanguageModelV4CallOptions) {
    const call = this.#open(prompt)
    const { clock } = this.#options
    let left = Math.min(this.#outputTokens(), maxOutputTokens)
    let cancel = (): void => {}
    const stream = new ReadableStream<LanguageModelV4StreamPart>({
      start: (controller) => {
        controller.enqueue({ type: 'stream-start', warnings: [] })
        const send = (): void => {
          if (call.isAborted) call.late++
          const tokens = Math.min(left, 1 + this.#random.whole(CHUNK_TOKENS))
          left -= tokens
          call.output += tokens
          controller.enqueue({ type: 'text-delta', id: '1', delta: textOf(tokens) })
          if (left > 0) cancel = clock.after(CHUNK_MS, send)
          else {
            const finishReason = { unified: 'stop' as const, raw: undefined }
            controller.enqueue({ type: 'finish', usage: this.#usageOf(call), finishReason })
            controller.close()
          }
        }
        cancel = clock.after(CHUNK_MS, send)
        abortSignal?.addEventListener('abort', () => {
          cancel()
          call.isAborted = true
          controller.error(abortSignal.reason)
        })
      },
      cancel: () => cancel(),
    })
    return { stream }
  }

  #open(prompt: unknown): ProviderCall {
    // the estimate of the budget, so that the bill can be compared to the token
    const input = Math.ceil(JSON.stringify(prompt).length / 4)
    const call = { input, output: 0, late: 0, isAborted: false }
    this.calls.push(call)
    return call
  }

  #outputTokens(): number {
    return this.#options.outputTokens?.(this.#random) ?? 100 + this.#random.whole(1_400)
  }

  #usageOf({ input, output }: ProviderCall) {
    const known = this.#options.reports !== false
    const total = known ? input : undefined
    return {
      inputTokens: { total, noCache: total, cacheRead: undefined, cacheWrite: undefined },
      outputTokens: { total: known ? output : undefined, text: undefined, reasoning: undefined },
    }
  }
}

/** A text that counts as so many tokens. */
export function textOf(tokens: number): string {
  return 'word'.repeat(tokens)
}

export function promptOf(tokens: number): LanguageModelV4CallOptions {
  return { prompt: [{ role: 'user', content: [{ type: 'text', text: textOf(tokens) }] }] }
}

/** Reads a stream to its end. Returns its text. */
export async function readAll(model: LanguageModelV4, options: LanguageModelV4CallOptions): Promise<string> {
  const { stream } = await model.doStream(options)
  let text = ''
  for await (const part of stream) if (part.type === 'text-delta') text += part.delta
  return text
}

/** Moves the clock until `work` has settled. Returns what it resolves or rejects with. */
export async function played<T>(clock: FakeClock, work: Promise<T>, stepMs = CHUNK_MS): Promise<T> {
  let isDone = false
  const done = work.finally(() => {
    isDone = true
  })
  done.catch(() => {})
  for (let step = 0; step < 100_000 && !isDone; step++) {
    await flushed()
    if (!isDone) clock.advance(stepMs)
  }
  if (!isDone) throw new Error('the work does not end')
  return done
}

/** Resolves when promises that need no timer have settled. */
export async function flushed(): Promise<void> {
  for (let turn = 0; turn < 3; turn++) await new Promise<void>((resolve) => setImmediate(resolve))
}
