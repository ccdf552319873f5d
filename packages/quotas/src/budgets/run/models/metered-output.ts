import type { RunCall } from '../level/run-call.ts'
import type { ModelPrice } from './model-price.ts'
import { type ModelUsage, usageOf } from './model-usage.ts'

/** Output and usage that a part of a stream reports. */
export interface OutputPart {
  /** Text that the model has written: an answer, its reasoning, or the input of a tool. */
  readonly text?: string | undefined
  /** The usage, which the provider reports at the end. */
  readonly usage?: unknown
}

const UNKNOWN: ModelUsage = { input: undefined, cacheRead: 0, cacheWrite: 0, output: undefined }

/** Counts the output of one model call, and settles the call when it has ended. */
export class MeteredOutput {
  readonly #call: RunCall
  readonly #price: ModelPrice
  readonly #input: number
  #output = 0
  #usage = UNKNOWN
  /** Whether a part was received. */
  hasStarted = false

  /** `input`: estimated input tokens. */
  constructor(call: RunCall, price: ModelPrice, input: number) {
    this.#call = call
    this.#price = price
    this.#input = input
  }

  /** Counts a part that was received. Rejects when a bound is reached. */
  async add({ text, usage }: OutputPart): Promise<void> {
    this.hasStarted = true
    if (usage !== undefined) this.#usage = usageOf(usage)
    if (text === undefined || text === '') return
    const tokens = this.#price.tokensOf(text)
    this.#output += tokens
    await this.#call.add(tokens)
  }

  /** Counts the complete output of a call, which was held before. */
  addWhole({ text = '', usage }: OutputPart): void {
    this.hasStarted = true
    this.#usage = usageOf(usage)
    this.#output = this.#price.tokensOf(text)
  }

  /** Settles a call with what the provider has reported; with estimates if it has not. */
  end(): Promise<void> {
    return this.#call.end(this.#price.amountsOf(this.#usage, this.#input, Math.ceil(this.#output)))
  }

  /**
   * Settles a call that failed. A call that the provider refused has used no tokens. What a call has used that was
   * aborted before its answer is not known, so that it costs what it held.
   */
  fail(): Promise<void> {
    const isAborted = this.#call.signal.aborted
    if (isAborted && !this.#call.isStreamed) return this.#call.end(this.#call.reserved)
    if (isAborted || this.hasStarted) return this.end()
    return this.#call.end({ usd: 0, tokens: 0, calls: 1 })
  }
}

/** Passes on the parts of a stream until the call is aborted. */
export class MeteredStream<Part> {
  readonly #parts: AsyncIterator<Part>
  readonly #call: RunCall
  readonly #output: MeteredOutput
  readonly #read: (part: Part) => OutputPart

  constructor(parts: AsyncIterable<Part>, call: RunCall, output: MeteredOutput, read: (part: Part) => OutputPart) {
    this.#parts = parts[Symbol.asyncIterator]()
    this.#call = call
    this.#output = output
    this.#read = read
    // the reader may have stopped without a word
    call.onAbort(() => {
      this.#leave()
      output.fail().catch(() => {})
    })
  }

  /** Returns the next part; undefined at the end. Rejects when a bound is reached, or when the call was aborted. */
  async next(): Promise<{ readonly part: Part } | undefined> {
    try {
      const { done, value } = await this.#call.race(this.#parts.next())
      if (done) {
        await this.#output.end()
        return undefined
      }
      await this.#output.add(this.#read(value))
      return { part: value }
    } catch (error) {
      // the provider ends what it sends, whatever the reason
      if (this.#output.hasStarted) this.#call.abort(error)
      // a source that waits for its provider is not awaited
      this.#leave()
      await this.#output.fail()
      throw error
    }
  }

  /** Called when the reader wants no more parts. */
  async cancel(): Promise<void> {
    this.#call.abort(new DOMException('the reader has left', 'AbortError'))
    await this.#output.fail()
  }

  #leave(): void {
    Promise.resolve(this.#parts.return?.()).catch(() => {})
  }
}
