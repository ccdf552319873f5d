import { type AppDescription, adapterContract, type Feature, type RunningApp } from '@sluice/testkit'
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
  return tests.run()
}
