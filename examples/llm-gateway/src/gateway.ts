import { createInsight, dashboard } from '@sluice/insight'
import express, { type RequestHandler } from 'express'
import OpenAI from 'openai'
import { chatCompletions } from './chat.ts'
import { customerOf } from './customers.ts'
import { customerLimits, type LimitSettings, upstreamCap } from './limits.ts'
import { prices } from './meter.ts'
import type { Counts } from './store.ts'

/** An API like OpenAI's in front of `upstream`, which has that API, too. */
export function createGateway(upstream: string, settings: LimitSettings, counts: Counts) {
  const insight = createInsight()
  const page = dashboard({ insight })
  const limits = customerLimits(settings, counts, [insight])
  const cap = upstreamCap('upstream', settings, [insight])
  // the clients retry, and a failed call must not count several times
  const client = new OpenAI({ baseURL: upstream, apiKey: process.env.UPSTREAM_API_KEY ?? 'none', maxRetries: 0 })

  const app = express()
  app.use('/limits', page)
  app.use('/v1', authenticated)
  app.get('/v1/usage', async (req, res) => {
    const { verdicts } = await limits.limiter.peek(customerOf(req) as string)
    res.json(
      Object.fromEntries(verdicts.map(({ policy, remaining }) => [policy.name, { limit: policy.limit, remaining }])),
    )
  })
  app.post('/v1/chat/completions', express.json({ limit: '1mb' }), knownModel, limits, cap, chatCompletions(client))

  const close = async (): Promise<void> => {
    page.close()
    // bills the calls that were running
    await limits.idle()
    limits.close()
    cap.close()
    await insight.close()
  }
  return { app, close }
}

const authenticated: RequestHandler = (req, res, next) => {
  if (customerOf(req)) next()
  else
    res
      .status(401)
      .json({ error: { type: 'invalid_request_error', code: 'invalid_api_key', message: 'Unknown API key.' } })
}

const knownModel: RequestHandler = (req, res, next) => {
  if (prices.has(String(req.body?.model))) next()
  else
    res
      .status(404)
      .json({ error: { type: 'invalid_request_error', code: 'model_not_found', message: 'Unknown model.' } })
}
