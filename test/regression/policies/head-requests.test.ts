// A policy of the method GET did not apply to HEAD requests, which reach the same handlers, and counted them apart.

import { createServer } from 'node:http'
import { expect, test } from '@jest/globals'
import { rateLimit } from '@sluice/express'
import { parsePolicies, policies } from '@sluice/policies'
import express from 'express'
import request from 'supertest'
import type { LogEntry } from '../../../packages/cli/src/log/log-entry.ts'
import { RouteMatcher } from '../../../packages/cli/src/log/route-matcher.ts'
import { LogRequest } from '../../../packages/cli/src/replay/log-request.ts'
import { TextSource } from '../../policies/text-source.ts'

function documentWith(policy: object): string {
  return JSON.stringify({ version: 1, policies: [{ name: 'reads', limit: 1, per: '1h', ...policy }] })
}

test.each([
  { match: { method: 'GET' } },
  { match: { method: ['GET', 'HEAD'] } },
  { when: "request.method == 'GET'" },
  { key: ['address', 'method'] },
])('a HEAD request has the count of GET under the policy %j', async (policy) => {
  const app = express()
  app.use(rateLimit(policies(new TextSource(documentWith(policy)))))
  app.get('/', (_req, res) => void res.send('read'))
  const server = createServer(app)
  expect((await request(server).get('/')).status).toBe(200)
  expect((await request(server).head('/')).status).toBe(429)
})

test.each([['HEAD'], [['POST', 'HEAD']]])('a policy that matches the method %j is refused', (method) => {
  const text = documentWith({ match: { method } })
  const message = "policies[0].match.method: expected 'GET', which HEAD requests count as, received 'HEAD'"
  expect(() => parsePolicies(text, 'p.yaml')).toThrow(message)
  // an attribute of the application has any value
  expect(() => parsePolicies(text, 'p.yaml', { attributes: ['method'] })).not.toThrow()
})

test('the command sluice replays HEAD requests of a log as GET', () => {
  const request = new LogRequest(new RouteMatcher([]))
  request.entry = { field: (name) => (name === 'method' ? 'HEAD' : undefined) } as LogEntry
  expect(request.read('method')).toBe('GET')
})
