import { setTimeout as pause } from 'node:timers/promises'
import { byHeader, type Clock, createSluice } from '@sluice/express'
import express, { type Express, type NextFunction, type Request, type Response } from 'express'

const apiKeys = new Set(['demo', 'demo-2'])
const routes = {
  'GET /': 'this list; every route counts towards 100 requests in 10 s for each address',
  'POST /login': '5 wrong passwords in 15 minutes for each address; right ones are free',
  'GET /v1': '10 requests in 1 s and 30 in 1 minute for each x-api-key (demo, demo-2)',
  'GET /search?results=10': '20 units in 10 s for each address, one for every 10 results',
  'GET /chat?words=50': '600 words in 1 minute for each address, 50 reserved before the first is sent',
  'GET /slow': '2 at once, in the whole process; it takes 2 s',
}

/** A small API with a limit on every route. A test hands in a clock of its own. */
export function createGateway(clock?: Clock): Express {
  const { rateLimit, inflightLimit } = createSluice({ clock })
  const app = express()
  app.use(rateLimit({ name: 'address', limit: 100, window: '10s' }))

  app.get('/', (_req, res) => {
    res.json(routes)
  })

  const failures = { reserve: 1, settle: (_req: Request, res: Response) => (res.statusCode === 401 ? 1 : 0) }
  app.post('/login', rateLimit({ name: 'login', limit: 5, window: '15m', cost: failures }), express.json(), logIn)

  const policies = [
    { name: 'burst', limit: 10, window: '1s' },
    { name: 'sustained', limit: 30, window: '1m' },
  ] as const
  app.get('/v1', knownKeyOnly, rateLimit({ key: byHeader('x-api-key'), policies }), (req, res) => {
    res.json({ left: req.sluice?.decision?.verdicts.map(({ policy, remaining }) => ({ [policy.name]: remaining })) })
  })

  const cost = (req: Request): number => numberOf(req.query.results, 10, 100) / 10
  app.get('/search', rateLimit({ name: 'search', limit: 20, window: '10s', cost }), (req, res) => {
    res.json({ results: numberOf(req.query.results, 10, 100) })
  })

  const words = { reserve: 50, settle: (_req: Request, res: Response) => res.locals.words, settleOn: 'always' } as const
  const budget = { name: 'chat', algorithm: 'token-bucket', limit: 600, window: '1m', unit: 'words' } as const
  app.get('/chat', rateLimit({ ...budget, cost: words }), chat)

  const cap = inflightLimit({ name: 'slow', limit: 2 })
  app.get(
    '/slow',
    cap.wrap(async (_req, res) => {
      await pause(2_000, undefined, { ref: false })
      res.json({ done: true })
    }),
  )
  return app
}

function logIn(req: Request, res: Response): void {
  const right = req.body?.password === 'sesame'
  res.status(right ? 200 : 401).json({ welcome: right })
}

// a key that nobody has checked is no key: a client could send another one with every request
function knownKeyOnly(req: Request, res: Response, next: NextFunction): void {
  if (apiKeys.has(req.get('x-api-key') ?? '')) next()
  else res.status(401).json({ error: 'send x-api-key: demo' })
}

/** Streams the answer, and counts what was really sent, so that whoever hangs up pays for that and no more. */
async function chat(req: Request, res: Response): Promise<void> {
  const wanted = numberOf(req.query.words, 50, 500)
  res.locals.words = 0
  res.type('text/plain')
  while (res.locals.words < wanted && !res.destroyed) {
    res.write(`word ${++res.locals.words}\n`)
    await pause(2, undefined, { ref: false })
  }
  res.end()
}

function numberOf(text: unknown, otherwise: number, most: number): number {
  const number = Number(text ?? otherwise)
  return number >= 1 && number <= most ? Math.floor(number) : otherwise
}
