import { once } from 'node:events'
import { setTimeout as pause } from 'node:timers/promises'
import express, { type Express, type Request, type Response } from 'express'
import { promptTokens } from './meter.ts'

/** Tokens of one call that the client has received. */
export interface DeliveredCall {
  readonly user: string
  readonly model: string
  prompt: number
  completion: number
}

const WORDS = 'A hold reserves units while the work runs and the settlement spends what it has cost'.split(' ')
const TOKEN_MS = 5

/**
 * Stands in for a provider of models: an API like OpenAI's whose tokens are words. The prompt may say how long the answer
 * is (`in 40 words`), and after how many words the model hangs until its client leaves (`wait after 12`).
 */
export class Upstream {
  readonly app: Express = express()
  readonly calls: DeliveredCall[] = []

  constructor() {
    this.app.post('/v1/chat/completions', express.json({ limit: '1mb' }), (req, res) => this.#complete(req, res))
  }

  async #complete(req: Request, res: Response): Promise<void> {
    const { model, user = '', stream = false, max_tokens: most = Number.POSITIVE_INFINITY } = req.body
    const prompt = promptTokens(req)
    const text = JSON.stringify(req.body.messages)
    const length = Math.min(most, Number(/in (\d+) words/.exec(text)?.[1] ?? 20 + (text.length % 200)))
    const waitAfter = Number(/wait after (\d+)/.exec(text)?.[1] ?? Number.POSITIVE_INFINITY)
    const id = `chatcmpl-${this.calls.length + 1}`
    const about = { id, created: Math.floor(Date.now() / 1_000), model }
    const call: DeliveredCall = { user, model, prompt: 0, completion: 0 }
    this.calls.push(call)
    const usage = (): object => {
      const { prompt: input, completion: output } = call
      return { prompt_tokens: input, completion_tokens: output, total_tokens: input + output }
    }
    const chunk = (rest: object): void => {
      res.write(`data: ${JSON.stringify({ ...about, object: 'chat.completion.chunk', ...rest })}\n\n`)
    }
    const words: string[] = []
    for (let index = 0; index < length; index++) {
      await pause(TOKEN_MS)
      if (index === waitAfter) await once(res, 'close')
      if (res.closed) return
      const word = `${WORDS[index % WORDS.length]} `
      words.push(word)
      if (!stream) continue
      call.prompt = prompt
      call.completion++
      chunk({ choices: [{ index: 0, delta: { role: 'assistant', content: word }, finish_reason: null }] })
    }
    call.prompt = prompt
    call.completion = words.length
    if (!stream) {
      const message = { role: 'assistant', content: words.join('') }
      const choices = [{ index: 0, message, finish_reason: 'stop' }]
      res.json({ ...about, object: 'chat.completion', choices, usage: usage() })
      return
    }
    chunk({ choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] })
    if (req.body.stream_options?.include_usage) chunk({ choices: [], usage: usage() })
    res.end('data: [DONE]\n\n')
  }
}
