import { type FakeClock, type SeededRandom, seededRandom } from '@sluice/testkit'
import { CHUNK_MS, CHUNK_TOKENS, MODEL, type ProviderCall, prices } from '../runs/fake-model.ts'
import { type Answer, chatChunks, chatJson, responsesEvents, responsesJson, type Turn } from './openai-formats.ts'

export interface FakeOpenAiOptions {
  readonly clock: FakeClock
  readonly seed?: number
  /** Chooses what the model does. Default: it writes 100 to 1,500 tokens. */
  readonly turn?: (request: OpenAiRequest, random: SeededRandom) => Turn
  /** Status of the response to a call, the first of which is 0. Default: 200. */
  readonly statusOf?: (call: number) => number
}

/** The parts of a request to `/chat/completions` or `/responses` that the fake reads. */
export interface OpenAiRequest {
  readonly stream?: boolean
  readonly messages?: readonly { readonly role: string }[]
  readonly input?: string | readonly { readonly type?: string }[]
  readonly max_tokens?: number
  readonly max_output_tokens?: number
}

type Signal = AbortSignal | null | undefined

/** Whether the last message of a request is the result of a tool. */
export function hasToolResult({ messages, input }: OpenAiRequest): boolean {
  const last = typeof input === 'object' ? input.at(-1) : undefined
  return messages?.at(-1)?.role === 'tool' || last?.type === 'function_call_output'
}

/** The API of OpenAI as a `fetch`. It charges each token that it has sent, and needs a fake clock for its time. */
export class FakeOpenAi {
  readonly calls: ProviderCall[] = []
  readonly requests: OpenAiRequest[] = []
  readonly fetch: typeof fetch = (url, init) => this.#answer(new URL(String(url)).pathname, init ?? {})
  readonly #options: FakeOpenAiOptions
  readonly #random: SeededRandom

  constructor(options: FakeOpenAiOptions) {
    this.#options = options
    this.#random = seededRandom(options.seed ?? 1)
  }

  /** What the provider has charged, in millionths of a dollar. */
  get charged(): number {
    return this.calls.reduce((sum, { input, output }) => sum + prices.costOf(MODEL, { input, output }), 0)
  }

  async #answer(path: string, { body, signal }: RequestInit): Promise<Response> {
    signal?.throwIfAborted()
    const { statusOf = () => 200, turn = (_request, random) => ({ writes: 100 + random.whole(1_400) }) } = this.#options
    const status = statusOf(this.requests.length)
    const request = JSON.parse(String(body)) as OpenAiRequest
    this.requests.push(request)
    const json = { 'content-type': 'application/json' }
    if (status !== 200) {
      const error = { message: 'overloaded', type: 'server_error' }
      return new Response(JSON.stringify({ error }), { status, headers: { ...json, 'retry-after-ms': '1' } })
    }
    const input = Math.ceil(JSON.stringify(request.messages ?? request.input).length / 4)
    const call = { input, output: 0, late: 0, isAborted: false }
    this.calls.push(call)
    const answer: Answer = {
      id: `call-${this.calls.length}`,
      turn: turn(request, this.#random),
      call,
      most: request.max_tokens ?? request.max_output_tokens ?? Number.POSITIVE_INFINITY,
      size: () => 1 + this.#random.whole(CHUNK_TOKENS),
    }
    const isChat = path.endsWith('/chat/completions')
    if (request.stream) return this.#stream(isChat ? chatChunks(answer) : responsesEvents(answer), call, signal)
    const response = isChat ? chatJson(answer) : responsesJson(answer)
    await this.#written(call, signal)
    return new Response(JSON.stringify(response), { headers: json })
  }

  /** Sends an event every 20 ms, until the caller aborts. An event has at most 12 tokens. */
  #stream(events: Iterator<string>, call: ProviderCall, signal: Signal): Response {
    const encoder = new TextEncoder()
    let cancel = (): void => {}
    const body = new ReadableStream<Uint8Array>({
      start: (controller) => {
        const send = (): void => {
          if (call.isAborted) call.late++
          const { value, done } = events.next()
          if (done) controller.close()
          else {
            controller.enqueue(encoder.encode(value))
            cancel = this.#options.clock.after(CHUNK_MS, send)
          }
        }
        cancel = this.#options.clock.after(CHUNK_MS, send)
        signal?.addEventListener('abort', () => {
          cancel()
          call.isAborted = true
          controller.error(signal.reason)
        })
      },
      cancel: () => {
        cancel()
        call.isAborted = true
      },
    })
    return new Response(body, { headers: { 'content-type': 'text/event-stream' } })
  }

  /** Resolves when a complete answer is written; rejects if the caller aborts, who pays for all of it. */
  #written({ output }: ProviderCall, signal: Signal): Promise<void> {
    return new Promise((resolve, reject) => {
      const cancel = this.#options.clock.after((output / CHUNK_TOKENS) * CHUNK_MS, resolve)
      signal?.addEventListener('abort', () => {
        cancel()
        reject(signal.reason)
      })
    })
  }
}
