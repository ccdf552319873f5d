import { describe, test } from '@jest/globals'
import { counterClient, createCounters, MemoryLedger } from '@sluice/counters'
import { counterContract } from '@sluice/testkit'
import { ServiceSite } from './service-site.ts'

/**
 * The ids of this claim include lone surrogates, which the path of a URL cannot contain; client.test.ts covers the
 * other ids.
 */
const OUT_OF_REACH = 'keeps hostile ids apart'
const runner = {
  describe,
  test: (name: string, run: () => void | Promise<void>): void => {
    if (name !== OUT_OF_REACH) test(name, run)
  },
}

describe.each([{ retries: 0 }, { retries: 2 }])(
  'counters of a service, through a client with $retries retries',
  (options) => {
    counterContract(
      runner,
      (clock) => {
        const ledger = new MemoryLedger(clock)
        const sites: ServiceSite[] = []
        return {
          open: async () => {
            const site = await ServiceSite.start({ counters: createCounters({ ledger, clock }) })
            sites.push(site)
            return counterClient({ url: site.url, ...options })
          },
          close: async () => {
            await Promise.all(sites.map((site) => site.stop()))
          },
        }
      },
      { durable: false },
    )
  },
)
