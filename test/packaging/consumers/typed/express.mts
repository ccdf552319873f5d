import type { AddressInfo } from 'node:net'
import { byAll, byPrincipal, byRoute, inflightLimit, rateLimit } from '@sluice/express'
import express, { type Request, type Response } from 'express'

const app = express()
app.use(inflightLimit({ limit: 200 }))
app.use(rateLimit({ limit: 1, window: '1m' }))
app.get('/', (_req, res) => {
  res.send('hello')
})

// no annotations below for types that can be inferred: requests in key sources, route parameters
const users = rateLimit({
  limit: 1,
  window: '1m',
  key: byAll(
    byPrincipal((req) => req.get('x-user')),
    byRoute(),
  ),
})
app.get('/users/:name', users, (req, res) => {
  res.send(req.params.name.toUpperCase())
})
export const user: (req: Request<{ name: string }>, res: Response) => unknown = users.wrap(
  (req: Request<{ name: string }>, res: Response) => res.send(req.params.name.toUpperCase()),
)

const server = app.listen(0, '127.0.0.1', () => console.log((server.address() as AddressInfo).port))
process.stdin.resume().once('end', () => server.close())
