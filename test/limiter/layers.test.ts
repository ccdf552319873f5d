import { describe, expect, test } from '@jest/globals'
import { RateGate, type RateLimitOptions } from '@sluice/http'
import { createLimiter, memoryBackend } from '@sluice/limiter-core'
import { FakeClock } from '@sluice/testkit'
import { codeOf } from '../code-of.ts'
import { viewOf } from '../keys/request-view.ts'

interface Raw {
  readonly plan?: string
}
type Options = RateLimitOptions<Raw, unknown>
type Guard = RateGate<Raw, unknown>

const MINUTE = { window: '1m', algorithm: 'fixed-window' } as const
const api = (limit: number, name = 'api') => ({ ...MINUTE, name, limit })

/** Units left by policy after one more request, followed by `denied` after a denial; empty if nothing is counted. */
function left(guard: Guard, raw: Raw = {}): string {
  const check = guard.check(viewOf<Raw>({ raw }))
  if (check === undefined) return 'uncounted'
  const { decision } = check as {
    decision: { allowed: boolean; verdicts: readonly { policy: { name: string }; remaining: number }[] }
  }
  const units = decision.verdicts.map(({ policy, remaining }) => `${policy.name} ${remaining}`).join(', ')
  return decision.allowed ? units : `${units}: denied`
}

function root(options: Partial<Options> = {}): Guard {
  return new RateGate<Raw, unknown>({ ...api(9), clock: new FakeClock(), ...options } as Options)
}

function below(
  guard: Guard,
  options: Partial<Options> | undefined,
  routeScope: string,
  without?: readonly string[],
): Guard {
  return guard.nested({ options: options as Options | undefined, routeScope, without })
}

describe('a part that does not mention a policy', () => {
  test('shares the count of its parent, in both directions and at any depth', () => {
    const app = root()
    const part = below(app, api(5, 'own'), 'part')
    const route = below(part, api(2, 'deep'), 'route')
    expect([left(app), left(part), left(route), left(app)]).toEqual([
      'api 8',
      'api 7, own 4',
      'api 6, own 3, deep 1',
      'api 5',
    ])
  })

  test('takes all or none: a denial of its own policy does not charge the parent', () => {
    const app = root()
    const part = below(app, api(1, 'own'), 'part')
    expect([left(part), left(part), left(app)]).toEqual(['api 8, own 0', 'api 8, own 0: denied', 'api 7'])
  })

  test('inherits key, cost, status and the other options of its parent', () => {
    const options = { key: () => 'all', cost: 3, status: 420, headers: 'none' } as const
    const part = below(root(options), { ...api(5, 'own'), cost: 2 } as Options, 'part')
    // the policy of the parent keeps its own cost
    expect(left(part)).toBe('api 6, own 3')
    left(part)
    expect(part.check(viewOf({ ip: '203.0.113.99', raw: {} }))).toMatchObject({
      denial: { status: 420 },
      keys: ['all', 'all'],
    })
  })
})

describe('a part that uses the same policy name', () => {
  test('replaces the policy in itself and below, and nowhere else', () => {
    const app = root()
    const part = below(app, api(3), 'part')
    const route = below(part, undefined, 'route', ['nobody'])
    expect([left(part), left(route), left(app)]).toEqual(['api 2', 'api 1', 'api 8'])
  })

  test('may have different options in every part on one backend', () => {
    const backend = memoryBackend({ clock: new FakeClock() })
    const app = root({ backend })
    const parts = [1, 2, 3].map((limit) => below(app, api(limit), `part ${limit}`))
    expect(parts.map((part) => left(part))).toEqual(['api 0', 'api 1', 'api 2'])
    expect(left(app)).toBe('api 8')
  })

  test('may do so if the parts have no parent', () => {
    const backend = memoryBackend({ clock: new FakeClock() })
    const parts = [1, 2].map(
      (limit) => new RateGate<Raw, unknown>({ ...api(limit), backend }, [], { routeScope: `part ${limit}` }),
    )
    expect(parts.map((part) => left(part))).toEqual(['api 0', 'api 1'])
  })

  test('counts separately even if two parts have the same options', () => {
    for (const backend of [undefined, memoryBackend({ clock: new FakeClock() })]) {
      const app = root(backend && { backend })
      const parts = ['a', 'b'].map((place) => below(app, api(2), place))
      expect(parts.map((part) => left(part))).toEqual(['api 1', 'api 1'])
    }
  })

  test('shares the count with the same part in another process', () => {
    const backend = memoryBackend({ clock: new FakeClock() })
    const parts = [1, 2].map(() => below(root({ backend, scope: 'fleet' }), api(2), 'login'))
    expect(parts.map((part) => left(part))).toEqual(['api 1', 'api 0'])
  })
})

describe('the scope of a part', () => {
  test('is nested in the scope of its parent, at any depth', () => {
    const backend = memoryBackend({ clock: new FakeClock() })
    const inScope = (scope: string): Guard => {
      const part = below(root({ backend, scope }), api(5), 'part')
      return below(part, api(2), 'route')
    }
    expect([inScope('a'), inScope('b'), inScope('a')].map((part) => left(part))).toEqual(['api 1', 'api 1', 'api 0'])
  })

  test('can be set explicitly, to share it with others', () => {
    const backend = memoryBackend({ clock: new FakeClock() })
    const part = below(root({ backend, scope: 'app' }), { ...api(3), scope: 'shared' } as Options, 'part')
    const limiter = createLimiter({ policies: [api(3)], backend, scope: 'shared' })
    left(part)
    expect(limiter.peek('203.0.113.7').binding.remaining).toBe(2)
  })

  test('may be derived from a route of any length', () => {
    const app = root({ scope: 'app', backend: memoryBackend() })
    expect(left(below(app, api(2), `GET /${'very/'.repeat(200)}long`))).toBe('api 1')
  })
})

describe('plans', () => {
  const plan = ({ plan: name }: Raw): string | undefined => name
  const plans = { free: [api(2)], pro: [api(9)] }
  const planned = (more: object = {}): Guard =>
    new RateGate<Raw, unknown>({ plans, plan, clock: new FakeClock(), ...more } as Options)

  test('of a parent each get the policies that a part adds, in one count', () => {
    const part = below(planned(), api(5, 'own'), 'part')
    expect(left(part, { plan: 'pro' })).toBe('api 8, own 4')
    expect(left(part, { plan: 'free' })).toBe('api 0, own 3')
    expect(left(part, { plan: 'nobody' })).toBe('api 0, own 3: denied')
  })

  test('of a parent each lose the policies that a part replaces or skips', () => {
    const [replaced, bare] = [below(planned(), api(5), 'part'), below(planned(), undefined, 'bare', ['api'])]
    expect([left(replaced, { plan: 'pro' }), left(replaced, { plan: 'free' })]).toEqual(['api 4', 'api 3'])
    expect(left(bare, { plan: 'pro' })).toBe('uncounted')
  })

  test('of a part are added to the policies of its parent', () => {
    const own = { plans: { free: [api(1, 'own')], pro: [api(5, 'own')] }, plan }
    const part = below(root(), own as unknown as Partial<Options>, 'part')
    expect([left(part, { plan: 'pro' }), left(part, {})]).toEqual(['api 8, own 4', 'api 8, own 0: denied'])
  })

  test('of a part are combined with parent plans of the same name, and a new plan with the first', () => {
    const own = { plans: { pro: [api(5, 'own')], gold: [api(7, 'own')] }, plan }
    const part = below(planned(), own as unknown as Partial<Options>, 'part')
    expect([left(part, { plan: 'pro' }), left(part, { plan: 'gold' })]).toEqual(['api 8, own 4', 'api 0, own 5'])
  })
})

describe('closing', () => {
  /** Returns whether `api` can be registered with a different limit in this scope. */
  const free = (backend: ReturnType<typeof memoryBackend>, scope: string): boolean => {
    const limiter = codeOf(() => createLimiter({ policies: [api(77)], backend, scope }).close())
    return limiter === 'accepted'
  }

  test('a part releases its own names but not the names of its parent', () => {
    const backend = memoryBackend()
    const app = root({ backend, scope: 'app' })
    const part = below(app, api(3), 'part')
    const other = below(app, api(5, 'own'), 'other')
    expect([free(backend, 'app'), free(backend, 'app:part')]).toEqual([false, false])
    other.close()
    part.close()
    expect([free(backend, 'app'), free(backend, 'app:part')]).toEqual([false, true])
    app.close()
    expect(free(backend, 'app')).toBe(true)
  })

  test('releases a name once, however often it is closed and however many plans use it', () => {
    const backend = memoryBackend()
    const plans = { free: [api(2, 'quota')], pro: [api(9, 'quota')], gold: [api(99, 'quota')] }
    const options = { plans, plan: () => 'free', backend, scope: 'app' } as const
    const [one, two] = [1, 2].map(() => below(new RateGate<Raw, unknown>(options), api(3), 'part'))
    one.close()
    one.close()
    expect(free(backend, 'app:part')).toBe(false)
    two.close()
    expect(free(backend, 'app:part')).toBe(true)
  })

  test('a closed parent leaves its parts counting', () => {
    const app = root()
    const part = below(app, api(5, 'own'), 'part')
    app.close()
    expect(left(part)).toBe('api 8, own 4')
  })
})

describe('a part with invalid options', () => {
  test.each<[string, object, string]>([
    ['a limit of 0', { limit: 0 }, 'SLUICE_BAD_LIMIT'],
    ['an unknown option', { max: 3 }, 'SLUICE_BAD_OPTION'],
    ['a status of 200', { status: 200 }, 'SLUICE_BAD_OPTION'],
    ['an unknown dialect', { headers: 'draft-99' }, 'SLUICE_BAD_OPTION'],
    ['invalid observers', { observers: 5 }, 'SLUICE_BAD_OPTION'],
    ['skip that is not a function', { skip: 5 }, 'SLUICE_BAD_OPTION'],
  ])('is rejected, and reserves no name: %s', (_what, wrong, code) => {
    const app = root({ backend: memoryBackend(), scope: 'app' })
    expect(codeOf(() => below(app, { ...api(3), ...wrong } as Options, 'part'))).toBe(code)
    expect(codeOf(() => below(app, api(4), 'part'))).toBe('accepted')
  })
})
