import { createServer } from 'node:http'
import { rateLimit } from '@sluice/node-http'
import { statusesOf } from './asked.mjs'

export function statuses() {
  const limit = rateLimit({ limit: 1, window: '1m' })
  const server = createServer((req, res) => limit(req, res, () => res.end('hello')))
  return statusesOf(server.listen(0, '127.0.0.1'))
}
