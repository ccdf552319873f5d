import Anthropic from '@anthropic-ai/sdk'
import OpenAI from 'openai'

/** A client of the API of a vendor, with its own retries. */
export interface Sdk {
  readonly name: 'openai' | 'anthropic'
  /** Path of the requests that `ask` sends. */
  readonly path: string
  /** A response that the client understands. */
  readonly answer: Readonly<Record<string, unknown>>
  /** Sends one message by `fetch`, with at most one retry, and returns the headers of the response. */
  ask(url: string, fetch?: typeof globalThis.fetch): Promise<Headers>
}

const MESSAGES = [{ role: 'user', content: 'hello' }] as const
/** A second retry would succeed late although the first one was early. */
const MAX_RETRIES = 1

export const sdks: readonly Sdk[] = [
  {
    name: 'openai',
    path: '/v1/chat/completions',
    answer: {
      id: 'chatcmpl-1',
      object: 'chat.completion',
      created: 0,
      model: 'any',
      choices: [{ index: 0, finish_reason: 'stop', message: { role: 'assistant', content: 'hello' } }],
    },
    ask: async (url, fetch) => {
      const client = new OpenAI({
        baseURL: `${url}/v1`,
        apiKey: 'key',
        maxRetries: MAX_RETRIES,
        ...(fetch && { fetch }),
      })
      const { response } = await client.chat.completions
        .create({ model: 'any', messages: [...MESSAGES] })
        .withResponse()
      return response.headers
    },
  },
  {
    name: 'anthropic',
    path: '/v1/messages',
    answer: {
      id: 'msg_1',
      type: 'message',
      role: 'assistant',
      model: 'any',
      content: [{ type: 'text', text: 'hello' }],
      stop_reason: 'end_turn',
      usage: { input_tokens: 1, output_tokens: 1 },
    },
    ask: async (url, fetch) => {
      const client = new Anthropic({ baseURL: url, apiKey: 'key', maxRetries: MAX_RETRIES, ...(fetch && { fetch }) })
      const asked = client.messages.create({ model: 'any', max_tokens: 9, messages: [...MESSAGES] })
      return (await asked.withResponse()).response.headers
    },
  },
]
