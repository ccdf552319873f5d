import { expect, test } from '@jest/globals'
import { LeasingBackend, MemoryLedger } from '@sluice/fleet/leases'
import { RateGate, type RateLimitOptions } from '@sluice/http'
import { memoryBackend } from '@sluice/limiter-core'
import { FakeClock, FrontCounters } from '@sluice/testkit'
import { frontBackend } from '../../contracts/front-backend.ts'
import { viewOf } from '../../keys/request-view.ts'

interface Raw {
  readonly plan: string
  readonly user: string
}

const TERMS = { fraction: 0.5, leaseMs: 2_000 }

test('while the ledger does not answer, a client that changes to a smaller plan is denied by the rule, whatever is leased under the larger plan', async () => {
  const clock = new FakeClock()
  const memory = new MemoryLedger('ledger', memoryBackend({ clock }), TERMS, () => clock.now())
  let isAway = false
  const asked = async <T>(run: () => T): Promise<T> => {
    if (isAway) throw new Error('nobody is there')
    return run()
  }
  const exact = frontBackend('exact', memory, (ask) => asked(ask))
  const counters = new FrontCounters(memory)
  const ledger = {
    request: (asks: Parameters<MemoryLedger['request']>[0]) => asked(() => memory.request(counters.behind(asks))),
  }
  const backend = new LeasingBackend({ name: 'leased', exact, ledger, terms: TERMS, clock })
  const guard = new RateGate<Raw, unknown>({
    plans: {
      free: [{ name: 'api', limit: 20, window: '1h', algorithm: 'fixed-window' }],
      pro: [{ name: 'api', limit: 10_000, window: '1h', algorithm: 'fixed-window' }],
    },
    plan: ({ plan }: Raw) => plan,
    key: ({ user }: Raw) => user,
    backend,
    clock,
    onBackendError: 'deny',
  } as RateLimitOptions<Raw, unknown>)
  const ask = async (plan: string, user: string) => guard.check(viewOf<Raw>({ raw: { plan, user } }))
  for (let times = 0; times < 50; times++) expect((await ask('pro', 'ann'))?.decision.source).toBe('leased')
  isAway = true
  // until there are no more calls
  for (let user = 0; user < 20; user++) await ask('pro', `user ${user}`)
  expect((await ask('pro', 'ann'))?.decision).toMatchObject({ allowed: true, source: 'leased' })
  expect((await ask('free', 'ann'))?.decision).toMatchObject({ allowed: false, source: 'deny' })
  guard.close()
})
