// Runs the contract of backends on Durable Objects.
import { durableObjectBackend, type LimitNamespace } from '@sluice/cloudflare'
import { backendContract, type TestRunner } from '@sluice/testkit'
import { CollectedTests } from './collected-tests.ts'

export { LimitObject } from '@sluice/cloudflare'

let made = 0

export default {
  async fetch(_: Request, env: { readonly LIMITS: LimitNamespace }): Promise<Response> {
    const tests = new CollectedTests()
    const describe: TestRunner['describe'] = (name, define) => tests.describe(name, define)
    const test: TestRunner['test'] = (name, run) => tests.test(name, run)
    backendContract({ describe, test }, (clock) => {
      const prefix = `contract ${++made}`
      return durableObjectBackend(env.LIMITS, { prefix, shards: 4, clock, serverTime: () => clock.now() })
    })
    return Response.json(await tests.run())
  },
}
