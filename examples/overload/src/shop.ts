import { byHeader, inflightLimit } from '@sluice/express'
import { createInsight, dashboard, type Insight } from '@sluice/insight'
import { adaptive } from '@sluice/overload'
import express, { type Express } from 'express'
import type { Database } from './database.ts'
import { routes } from './routes.ts'

export interface Shop {
  readonly app: Express
  readonly insight: Insight
  close(): Promise<void>
}

/** A service in front of a database. Without protection, its cap counts requests, and is never full. */
export function createShop(database: Database, isProtected: boolean): Shop {
  const insight = createInsight()
  const page = dashboard({ insight })
  const app = express()
  // before the cap, so that the page works during an overload
  app.use('/limits', page)
  app.use(
    inflightLimit({
      name: 'shop',
      limit: isProtected ? adaptive({ min: 5, max: 200 }) : 1_000_000,
      priority: (req) => routes[req.path]?.priority ?? 'normal',
      fairBy: byHeader('x-api-key'),
      queue: { max: 24, maxWaitMs: 400 },
      observers: [insight],
    }),
  )
  for (const path of Object.keys(routes)) {
    app.get(path, async (_req, res) => {
      await database.query()
      res.json({ path })
    })
  }
  const close = async (): Promise<void> => {
    page.close()
    await insight.close()
  }
  return { app, insight, close }
}
