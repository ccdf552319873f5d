import type { RequestSluice } from '@sluice/express'
import type { Request, RequestHandler, Response } from 'express'
import OpenAI from 'openai'
import { customerOf } from './customers.ts'
import { Meter, promptTokens, tokensIn } from './meter.ts'

/** Forwards calls to the upstream, and reports what they use. */
export function chatCompletions(client: OpenAI): RequestHandler {
  return async (req, res) => {
    const sluice = req.sluice as RequestSluice
    const left = new AbortController()
    res.once('close', () => left.abort())
    // stops the upstream when the client leaves, and when a limit is reached
    const signal = AbortSignal.any([left.signal, sluice.exhausted])
    const meter = new Meter(req.body.model, sluice)
    res.locals.meter = meter
    const body: OpenAI.ChatCompletionCreateParams = { ...req.body, user: customerOf(req) }
    try {
      if (body.stream === true) {
        const options = { ...body, stream: true, stream_options: { include_usage: true } } as const
        const chunks = await client.chat.completions.create(options, { signal })
        await send(chunks, meter, req, res)
      } else {
        const completion = await client.chat.completions.create({ ...body, stream: false }, { signal })
        if (completion.usage) meter.settle(completion.usage)
        res.json(completion)
      }
    } catch (error) {
      fail(error, res)
    }
  }
}

/** Sends chunks while the limits allow it. */
async function send(
  chunks: AsyncIterable<OpenAI.ChatCompletionChunk>,
  meter: Meter,
  req: Request,
  res: Response,
): Promise<void> {
  const showsUsage = req.body.stream_options?.include_usage === true
  let input = promptTokens(req)
  res.type('text/event-stream').set('cache-control', 'no-store')
  for await (const chunk of chunks) {
    const { choices, usage } = chunk
    if (choices.length > 0 || showsUsage) res.write(`data: ${JSON.stringify(chunk)}\n\n`)
    const output = choices.reduce((sum, { delta }) => sum + tokensIn(delta.content ?? ''), 0)
    if (usage) meter.settle(usage)
    else if (!(await meter.add(input, output))) return
    input = 0
  }
  if (!res.closed) res.end('data: [DONE]\n\n')
}

/** Passes an error of the upstream on. The client of a response that has started finds it incomplete. */
function fail(error: unknown, res: Response): void {
  if (res.headersSent) {
    res.destroy()
    return
  }
  const { status = 502, message } = error instanceof OpenAI.APIError ? error : { message: 'The upstream failed.' }
  res.status(status).json({ error: { type: 'upstream_error', code: 'upstream_error', message } })
}
