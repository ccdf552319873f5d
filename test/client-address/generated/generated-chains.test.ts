import { describe, expect, test } from '@jest/globals'
import { clientKey, explainSource } from '@sluice/http'
import { eachSeed, numberOfRuns } from '@sluice/testkit'
import { forgedHeaders, randomChain, randomClient, sent } from './chains.ts'

describe('behind a random chain of proxies that are all trusted', () => {
  test('each request is counted for the client that sent it, whatever the client wrote', async () => {
    const covered = new Map<string, number>()
    await eachSeed(400, (random) => {
      const chain = randomChain(random)
      const trust = chain.map(({ entry }) => entry)
      const name = chain.map(({ proxy, address }) => `${proxy.name} ${address}`).join(' > ')
      for (const { proxy } of chain) covered.set(proxy.name, (covered.get(proxy.name) ?? 0) + 1)
      for (let index = 0; index < 20; index++) {
        const client = randomClient(random)
        const written = random.next() < 0.6 ? forgedHeaders(random) : {}
        // past some or all of the proxies
        const first = random.next() < 0.3 ? random.whole(chain.length + 1) : 0
        const source = sent(chain, client, written, random, first)
        const { key, text } = explainSource(source, { trust })
        if (key === clientKey(client)) continue
        throw new Error(`${client} > ${name} from ${first}, wrote ${JSON.stringify(written)}: ${text}`)
      }
    })
    expect(Math.min(...covered.values())).toBeGreaterThanOrEqual(numberOfRuns(4))
  })
})
