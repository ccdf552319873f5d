import { expect, test } from '@jest/globals'
import { type AlgorithmName, createLimiter, type PolicyInput } from '@sluice/limiter-core'
import { checkPolicies, type WrittenPolicy } from '@sluice/policies'
import { eachSeed, FakeClock, type SeededRandom } from '@sluice/testkit'

const ALGORITHMS: readonly AlgorithmName[] = ['sliding-log', 'sliding-window', 'fixed-window', 'token-bucket', 'gcra']
const PAIRS = 1_500
const REQUESTS = 400

/** A random policy, small enough that traffic reaches its limits. */
function policyOf(random: SeededRandom, name: string): WrittenPolicy {
  const algorithm = random.pick(ALGORITHMS)
  return {
    ...{ name, algorithm, limit: 1 + random.whole(12), per: `${1 + random.whole(4)}s` },
    ...(algorithm === 'sliding-window' && { slices: 1 + random.whole(3) }),
    ...(/bucket|gcra/.test(algorithm) && random.whole(2) === 0 && { burst: 1 + random.whole(12) }),
  }
}

function inputOf({ per, ...policy }: WrittenPolicy): Omit<PolicyInput, 'backend'> {
  const { key: _, when: _condition, ...input } = policy
  return { ...input, window: per } as Omit<PolicyInput, 'backend'>
}

/** A pair of policies: the second one counts the same requests, or those of three routes separately. */
function pairOf(random: SeededRandom): { strict: WrittenPolicy; lenient: WrittenPolicy; routes: number } {
  const routes = random.pick([1, 3])
  const strict = policyOf(random, 'strict')
  const similar = { ...strict, limit: Number(strict.limit) + random.whole(4) }
  const lenient = random.pick([similar, policyOf(random, 'lenient')])
  return {
    strict,
    lenient: { ...lenient, name: 'lenient', key: routes === 1 ? ['address'] : ['address', 'route'] },
    routes,
  }
}

/** Sends random traffic. Returns a request that only the lenient policy denies. */
function wronglyDenied(
  random: SeededRandom,
  { strict, lenient, routes }: ReturnType<typeof pairOf>,
): number | undefined {
  const clock = new FakeClock()
  const limiter = createLimiter({ policies: [inputOf(strict), inputOf(lenient)], clock })
  for (let request = 0; request < REQUESTS; request++) {
    clock.advance(random.whole(3) === 0 ? random.whole(4_000) : random.whole(60))
    const { allowed, verdicts } = limiter.take({ strict: 'k', lenient: `k${random.whole(routes)}` })
    if (!allowed && verdicts[0].allowed) return request
  }
  limiter.close()
  return undefined
}

test('a policy that is reported as never binding denies no request that the other one allows', async () => {
  const reported = { warning: 0, hint: 0, error: 0 }
  await eachSeed(PAIRS, (random) => {
    const pair = pairOf(random)
    const findings = checkPolicies({ version: 1, policies: [pair.strict, pair.lenient] })
    const finding = findings.find(({ rule, policy }) => rule === 'never-binds' && policy === 'lenient')
    if (finding !== undefined) reported[finding.severity]++
    if (finding?.severity === 'warning') expect([pair, wronglyDenied(random, pair)]).toEqual([pair, undefined])
  })
  expect(reported.warning).toBeGreaterThan(PAIRS / 20)
  expect(reported.hint).toBeGreaterThan(PAIRS / 100)
})
