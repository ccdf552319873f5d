import { rateLimit as fetchLimit } from '@sluice/fetch'
import { byAll, byIp, byRoute, rateLimit as honoLimit } from '@sluice/hono'
import {
  type AppDescription,
  adapterContract,
  type BypassContractOptions,
  bypassContract,
  type Feature,
  type RunningApp,
} from '@sluice/testkit'
import { Hono } from 'hono'
import { type FetchHandler, fetchApp } from '../../adapters/fetch/fetch-app.ts'
import { honoApp } from '../../adapters/fetch/hono-app.ts'
import { CollectedTests, type Outcome } from './collected-tests.ts'

export type Serve = (handler: FetchHandler) => RunningApp | Promise<RunningApp>

/** Runs the contract of adapters for `@sluice/fetch` and `@sluice/hono` on servers of a runtime that lacks some features. */
export function runContracts(serve: Serve, lacks: readonly Feature[] = []): Promise<Outcome> {
  const tests = new CollectedTests()
  tests.describe('fetch', () => {
    const makeApp = (description: AppDescription) => serve(fetchApp(description))
    adapterContract(tests, makeApp, {
      without: ['headers-before-limits', 'closes-connections', 'error-handlers', ...lacks],
    })
  })
  tests.describe('Hono', () => {
    const makeApp = (description: AppDescription) => {
      const app = honoApp(description)
      return serve((request, info) => app.fetch(request, info))
    }
    adapterContract(tests, makeApp, { without: ['closes-connections', ...lacks] })
  })
  for (const method of ['GET', 'POST'] as const) {
    tests.describe(`spellings of ${method}`, () => spellings(tests, serve, { method }))
  }
  return tests.run()
}

const limit = { limit: 3, window: '1h' } as const

/** Runs the suite of bypasses for a route of both adapters. */
function spellings(tests: CollectedTests, serve: Serve, options: BypassContractOptions & { method: string }): void {
  const { method } = options
  bypassContract(
    tests,
    async () => {
      const handle = fetchLimit(limit).wrap(() => new Response('welcome'))
      return serve((request, info) => {
        const isMethod = request.method === method || (method === 'GET' && request.method === 'HEAD')
        const isLogin = isMethod && new URL(request.url).pathname === '/login'
        return isLogin ? handle(request, info) : new Response('not found', { status: 404 })
      })
    },
    options,
  )
  bypassContract(
    tests,
    async () => {
      const app = new Hono({ strict: false })
      app.on(method, '/login', honoLimit({ ...limit, key: byAll(byIp(), byRoute()) }), (c) => c.text('welcome'))
      return serve((request, info) => app.fetch(request, info as never))
    },
    options,
  )
}
