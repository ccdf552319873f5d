import { rateLimit } from '@sluice/express'
import { type PolicyOptions, policies } from '@sluice/policies'
import express, { type Express, type Request, type Response } from 'express'

/** Customers by API key. */
const CUSTOMERS: ReadonlyMap<string | undefined, { readonly name: string; readonly plan: string }> = new Map([
  ['key-free', { name: 'tiny', plan: 'free' }],
  ['key-pro', { name: 'medium', plan: 'pro' }],
  ['key-enterprise', { name: 'acme', plan: 'enterprise' }],
])

/** An API whose limits are in a policy file, and the loaded file. */
export interface PolicyApp extends PolicyOptions<Request, Response> {
  readonly app: Express
}

/** Creates the API. `file` is the path of the policy file; its changes apply while the API runs. */
export function createApp(file: string): PolicyApp {
  const customerOf = (req: Request) => CUSTOMERS.get(req.get('x-api-key'))
  const options = policies<Request, Response>(file, {
    watch: true,
    attributes: {
      customer: (req) => customerOf(req)?.name,
      plan: (req) => customerOf(req)?.plan ?? 'free',
      db_ms: (_req, res) => Number(res?.locals.dbMs),
    },
  })
  const limit = rateLimit(options)
  const app = express()
  app.get('/', limit, (_req, res) => {
    res.json({ routes: ['/', '/search?q=…'] })
  })
  app.get('/search', limit, async (req, res) => {
    const started = performance.now()
    // your query
    await new Promise((resolve) => setTimeout(resolve, 5))
    res.locals.dbMs = Math.ceil(performance.now() - started)
    res.json({ found: [req.query.q], left: req.sluice?.decision?.binding.remaining })
  })
  return { app, ...options }
}
