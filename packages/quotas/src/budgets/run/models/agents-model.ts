import { RunCall } from '../level/run-call.ts'
import { MeteredOutput, MeteredStream, type OutputPart } from './metered-output.ts'
import type { ModelPrice } from './model-price.ts'
import { fieldsOf } from './model-usage.ts'

/** The parts of a request that budgets use. */
interface ModelRequest {
  readonly systemInstructions?: string | undefined
  readonly input: unknown
  readonly tools?: unknown
  readonly outputType?: unknown
  readonly modelSettings: object
  readonly signal?: AbortSignal | undefined
}

/** A `Model` of the OpenAI Agents SDK. */
export interface AgentsModel {
  getResponse(request: ModelRequest): Promise<object>
  getStreamedResponse(request: ModelRequest): AsyncIterable<unknown>
}

/** A `ModelProvider` of the OpenAI Agents SDK. */
export interface AgentsModelProvider {
  getModel(name?: string): Promise<AgentsModel> | AgentsModel
}

/** Returns the methods of a model that hold the units of each call. */
export function budgetedAgentsModel(model: AgentsModel, price: ModelPrice): AgentsModel {
  const open = async (request: ModelRequest, isStreamed: boolean) => {
    const { systemInstructions, input, tools, outputType, modelSettings, signal } = request
    const estimated = price.inputOf(systemInstructions, input, tools, outputType)
    const { maxTokens } = fieldsOf(modelSettings)
    const call = await RunCall.open(price.level, price.plan(estimated, maxTokens, isStreamed), signal)
    return { call, output: new MeteredOutput(call, price, estimated) }
  }
  return {
    async getResponse(request) {
      const { call, output } = await open(request, false)
      try {
        const modelSettings = { ...request.modelSettings, maxTokens: call.granted }
        const response = await call.race(model.getResponse({ ...request, modelSettings, signal: call.signal }))
        const { usage, output: items } = fieldsOf(response)
        output.addWhole({ usage, text: items === undefined ? '' : JSON.stringify(items) })
        await output.end()
        return response
      } catch (error) {
        await output.fail()
        throw error
      }
    },
    async *getStreamedResponse(request) {
      const { call, output } = await open(request, true)
      const events = model.getStreamedResponse({ ...request, signal: call.signal })
      const stream = new MeteredStream(events, call, output, readEvent)
      let isComplete = false
      try {
        for (let next = await stream.next(); next; next = await stream.next()) yield next.part
        isComplete = true
      } finally {
        if (!isComplete) await stream.cancel()
      }
    },
  }
}

/**
 * Reads an event of a stream: text, the end, or a raw event of the provider with other output, such as reasoning or the
 * arguments of a tool.
 */
function readEvent(event: unknown): OutputPart {
  const { type, delta, response, event: raw } = fieldsOf(event)
  if (type === 'output_text_delta') return { text: textOf(delta) }
  if (type === 'response_done') return { usage: fieldsOf(response).usage }
  const { type: rawType, delta: rawDelta, choices } = fieldsOf(raw)
  // text has a separate event, and the length of base64 does not show the length of audio
  if (/(?<!output_text|audio)\.delta$/.test(textOf(rawType))) return { text: textOf(rawDelta) }
  const deltas = Array.isArray(choices) ? choices.map((one) => fieldsOf(fieldsOf(one).delta)) : []
  return { text: deltas.map(hiddenOutput).join('') }
}

/** Returns the output of a chunk of `/chat/completions` that is not its text. */
function hiddenOutput(delta: Readonly<Record<string, unknown>>): string {
  const { tool_calls, reasoning, reasoning_content, refusal } = delta
  const calls = Array.isArray(tool_calls) ? tool_calls : []
  const inputs = calls.map((one) => fieldsOf(fieldsOf(one).function).arguments)
  // providers name reasoning differently, and some send it under both names
  return [...inputs, reasoning ?? reasoning_content, refusal].map(textOf).join('')
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : ''
}
