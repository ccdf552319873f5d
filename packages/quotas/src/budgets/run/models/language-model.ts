import { RunCall } from '../level/run-call.ts'
import { MeteredOutput, MeteredStream, type OutputPart } from './metered-output.ts'
import type { ModelPrice } from './model-price.ts'
import { fieldsOf } from './model-usage.ts'

/** The parts of a call that budgets use, in versions 2 to 4 of the interface of the AI SDK. */
interface CallOptions {
  readonly prompt?: unknown
  readonly tools?: unknown
  readonly responseFormat?: unknown
  readonly maxOutputTokens?: number | undefined
  readonly abortSignal?: AbortSignal | undefined
}

/** A language model of the AI SDK. */
export interface LanguageModel {
  readonly modelId: string
  doGenerate(options: CallOptions): PromiseLike<object>
  doStream(options: CallOptions): PromiseLike<{ readonly stream: ReadableStream<unknown> }>
}

/** Returns the methods of a language model that hold the units of each call. */
export function budgetedModel(model: LanguageModel, price: ModelPrice): Omit<LanguageModel, 'modelId'> {
  const open = async (options: CallOptions, isStreamed: boolean) => {
    const { prompt, tools, responseFormat, maxOutputTokens, abortSignal } = options
    const input = price.inputOf(prompt, tools, responseFormat)
    const call = await RunCall.open(price.level, price.plan(input, maxOutputTokens, isStreamed), abortSignal)
    return { call, output: new MeteredOutput(call, price, input) }
  }
  return {
    async doGenerate(options) {
      const { call, output } = await open(options, false)
      try {
        const sent = { ...options, maxOutputTokens: call.granted, abortSignal: call.signal }
        const result = await call.race(model.doGenerate(sent))
        const { content, usage } = fieldsOf(result)
        const parts = Array.isArray(content) ? content : []
        // estimates, for providers that report no usage
        output.addWhole({ usage, text: parts.map((part) => textOf(part)).join('') })
        await output.end()
        return result
      } catch (error) {
        await output.fail()
        throw error
      }
    },
    async doStream(options) {
      const { call, output } = await open(options, true)
      try {
        const result = await call.race(model.doStream({ ...options, abortSignal: call.signal }))
        const parts = new MeteredStream(result.stream as unknown as AsyncIterable<unknown>, call, output, partReader())
        return { ...result, stream: streamOf(parts) }
      } catch (error) {
        await output.fail()
        throw error
      }
    },
  }
}

function streamOf<Part>(parts: MeteredStream<Part>): ReadableStream<Part> {
  return new ReadableStream<Part>(
    {
      async pull(controller) {
        const next = await parts.next()
        if (next) controller.enqueue(next.part)
        else controller.close()
      },
      cancel: () => parts.cancel(),
    },
    { highWaterMark: 0 },
  )
}

/** Returns a function that reads the parts of one stream. */
function partReader(): (part: unknown) => OutputPart {
  /** Tool calls whose input was streamed. */
  const streamed = new Set<unknown>()
  return (part) => {
    const { type, delta, id, toolCallId, usage } = fieldsOf(part)
    if (type === 'finish') return { usage }
    if (type === 'tool-input-delta') streamed.add(id)
    if (type === 'tool-call' && streamed.has(toolCallId)) return {}
    return { text: typeof delta === 'string' ? delta : textOf(part) }
  }
}

/** Returns the text of a complete part: an answer, its reasoning, or a call of a tool. */
function textOf(part: unknown): string {
  const { type, text, input, toolName } = fieldsOf(part)
  if (type === 'tool-call') return `${toolName}${typeof input === 'string' ? input : ''}`
  return typeof text === 'string' ? text : ''
}
