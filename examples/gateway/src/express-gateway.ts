import { byHeader, type Clock, createSluice, explainClient } from '@sluice/express'
import express, { type Express, type NextFunction, type Request, type Response } from 'express'
import { isKnownKey, isPassword, left, noKey, resultsOf, routes, words, workSlowly } from './api.ts'
import { chatReserve, policiesOf } from './policies.ts'
import type { Watch } from './watch.ts'

/** The API on Express. Tests pass their own clock. */
export function expressGateway(clock?: Clock, watch?: Watch): Express {
  const policies = policiesOf(watch?.site)
  const { rateLimit, inflightLimit } = createSluice({ clock, observers: watch?.observers })
  const app = express()
  // before the limits, so that viewing the page is not counted
  if (watch) app.use(watch.path, watch.page)
  app.use(rateLimit(policies.address))

  app.get('/', (_req, res) => {
    res.json(routes)
  })

  const failures = { reserve: 1, settle: (_req: Request, res: Response) => (res.statusCode === 401 ? 1 : 0) }
  app.post('/login', rateLimit({ ...policies.login, cost: failures }), express.json(), (req, res) => {
    const welcome = isPassword(req.body)
    res.status(welcome ? 200 : 401).json({ welcome })
  })

  const perKey = rateLimit({ key: byHeader('x-api-key'), policies: policies.v1 })
  app.get('/v1', knownKeyOnly, perKey, (req, res) => {
    res.json({ left: left(req.sluice) })
  })

  const cost = (req: Request): number => resultsOf(req.query.results) / 10
  app.get('/search', rateLimit({ ...policies.search, cost }), (req, res) => {
    res.json({ results: resultsOf(req.query.results) })
  })

  const settle = (_req: Request, res: Response): number => res.locals.words
  const sent = { reserve: chatReserve, settle, settleOn: 'always' } as const
  app.get('/chat', rateLimit({ ...policies.chat, cost: sent }), chat)

  app.get('/client', (req, res) => {
    res.json(explainClient(req))
  })

  const cap = inflightLimit(policies.slow)
  app.get(
    '/slow',
    cap.wrap(async (_req, res) => {
      res.json(await workSlowly())
    }),
  )
  return app
}

function knownKeyOnly(req: Request, res: Response, next: NextFunction): void {
  if (isKnownKey(req.get('x-api-key'))) next()
  else res.status(401).json(noKey)
}

/** Streams the response and charges only the words sent, also if the client disconnects. */
async function chat(req: Request, res: Response): Promise<void> {
  res.locals.words = 0
  res.type('text/plain')
  for await (const word of words(req.query.words)) {
    if (res.destroyed) return
    res.write(word)
    res.locals.words++
  }
  res.end()
}
