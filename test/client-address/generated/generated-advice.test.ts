import { describe, expect, test } from '@jest/globals'
import { type ClientSource, CollapseDetector, clientKey, explainSource, type ProxyTrust } from '@sluice/http'
import type { CollapsedClients } from '@sluice/limiter-core/http'
import { eachSeed, FakeClock, numberOfRuns, type SeededRandom } from '@sluice/testkit'
import { TrustedProxies } from '../../../packages/http/src/client/trusted-proxies.ts'
import { adviceOf } from '../advice-of.ts'
import { forgedHeaders, IN_A_NETWORK, type Placed, randomChain, randomClient, sent } from './chains.ts'

const REQUESTS = 240
/** One advice for each proxy of the longest chain. */
const MAX_ADVICES = 4

interface Traffic {
  readonly client: string
  readonly isForging: boolean
  readonly source: ClientSource
}

/** Requests of many clients, with a part by some who forge headers. `gateway`: the address in place of all clients. */
function traffic(chain: readonly Placed[], random: SeededRandom, gateway?: string): readonly Traffic[] {
  const clients = Array.from({ length: 60 }, () => randomClient(random))
  const forgers = Array.from({ length: 3 }, () => randomClient(random))
  return Array.from({ length: REQUESTS }, (_, index) => {
    const isForging = random.next() < 0.2
    const client = random.pick(isForging ? forgers : clients)
    const written = isForging ? forgedHeaders(random) : {}
    const { headerText, ...source } = sent(chain, gateway ?? client, written, random)
    const agent = `Browser/${index % 45}`
    return {
      client,
      isForging,
      source: { ...source, headerText: (name) => (name === 'user-agent' ? agent : headerText(name)) },
    }
  })
}

/** Returns what the detector reports about traffic that is counted with these trusted proxies. */
function report(requests: readonly Traffic[], trust: readonly ProxyTrust[]): CollapsedClients | undefined {
  let found: CollapsedClients | undefined
  const reporter = {
    collapsed: (one: CollapsedClients) => {
      found ??= one
    },
    unproven: () => {},
  }
  const detector = new CollapseDetector(reporter, new FakeClock())
  const proxies = trust.length === 0 ? undefined : new TrustedProxies(trust)
  for (const { source } of requests) {
    const counted = proxies ? proxies.addressOf(source) : source.ip
    if (counted !== undefined) detector.see(counted, source, proxies)
    if (found !== undefined) break
  }
  return found
}

/** Follows each advice, and returns them with the setting that they lead to. */
function follow(
  requests: readonly Traffic[],
  given: readonly ProxyTrust[],
): { readonly trust: readonly ProxyTrust[]; readonly advices: readonly string[] } {
  let trust = given
  const advices: string[] = []
  while (advices.length < MAX_ADVICES) {
    const found = report(requests, trust)
    if (found?.trust === undefined) break
    advices.push(found.trust)
    trust = adviceOf(found.trust)
  }
  return { trust, advices }
}

function counted({ source }: Traffic, trust: readonly ProxyTrust[]): { readonly key: string; readonly text: string } {
  return explainSource(source, trust.length === 0 ? {} : { trust })
}

/** Returns what the application trusts: no proxy, or the nearest ones of the chain. */
function knownProxies(chain: readonly Placed[], random: SeededRandom): readonly ProxyTrust[] {
  const known = random.next() < 0.5 ? 0 : random.whole(chain.length)
  return chain.slice(chain.length - known).map(({ entry }) => entry)
}

const nameOf = (chain: readonly Placed[]): string =>
  chain.map(({ proxy, address }) => `${proxy.name} ${address}`).join(' > ')

describe('the advice of the warning about collapsed clients, behind a random chain', () => {
  test('leads to a setting that distinguishes all clients, and in which no client can forge an address', async () => {
    let followed = 0
    await eachSeed(60, (random) => {
      const chain = randomChain(random)
      const requests = traffic(chain, random)
      const known = knownProxies(chain, random)
      const { trust, advices } = follow(requests, known)
      followed += advices.length
      for (const one of requests) {
        const { key, text } = counted(one, trust)
        if (key === clientKey(one.client)) continue
        const who = `${one.client}${one.isForging ? ', who forges,' : ''}`
        throw new Error(`${nameOf(chain)}, ${known.length} known, advices ${advices.join(' then ')}: ${who} ${text}`)
      }
    })
    expect(followed).toBeGreaterThan(numberOfRuns(20))
  })

  test('lets no client choose its address where a gateway or a proxy hides the clients', async () => {
    let warned = 0
    await eachSeed(60, (random) => {
      const whole = randomChain(random)
      const [last] = whole.slice(-1)
      const isGateway = random.next() < 0.5 || !IN_A_NETWORK.includes(last.proxy.name)
      // a proxy of the application that passes on what the client wrote
      const chain = isGateway ? whole : [{ ...last, proxy: { ...last.proxy, forward() {}, signs: {} } }]
      const gateway = isGateway ? random.pick(['172.18.0.1', '10.0.0.1', '192.168.65.1', '10.244.1.7']) : undefined
      const requests = traffic(chain, random, gateway)
      const known = knownProxies(chain, random)
      const { trust, advices } = follow(requests, known)
      if (report(requests, trust) !== undefined) warned++
      const hidden = new Set([...chain.map(({ address }) => clientKey(address)), clientKey(gateway)])
      for (const one of requests) {
        const { key, text } = counted(one, trust)
        if (hidden.has(key)) continue
        throw new Error(`${nameOf(chain)}, ${known.length} known, advices ${advices.join(' then ')}: ${text}`)
      }
    })
    expect(warned).toBeGreaterThan(numberOfRuns(20))
  })
})
