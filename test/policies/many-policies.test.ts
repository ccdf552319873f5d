import { expect, test } from '@jest/globals'
import { checkPolicies, PolicyMatcher, parsePolicies, type WrittenPolicy } from '@sluice/policies'
import { eachSeed, type SeededRandom } from '@sluice/testkit'

const DOCUMENTS = 60

/** A random policy over few attributes and values, so that many policies refine and include each other. */
function policyOf(random: SeededRandom, name: string): WrittenPolicy {
  const match = Object.fromEntries(
    ['route', 'method', 'tenant'].flatMap((attribute) => {
      const values = ['a', 'b', 'c'].filter(() => random.whole(2) === 0)
      return random.whole(2) === 0 || values.length === 0 ? [] : [[attribute, values]]
    }),
  )
  return {
    ...{ name, match, limit: 1 + random.whole(3), per: '1m' },
    ...(random.whole(4) === 0 && { unit: 'ms' }),
    ...(random.whole(4) === 0 && { key: 'tenant' }),
    ...(random.whole(5) === 0 && { mode: random.pick(['shadow', 'off']) }),
    ...(random.whole(6) === 0 && { replaces: [`p${random.whole(8)}`] }),
  }
}

test('a policy applies unless one that fits the request replaces it, in any document', () => {
  eachSeed(DOCUMENTS, (random) => {
    const policies = Array.from({ length: 8 }, (_, index) => policyOf(random, `p${index}`))
    const matcher = new PolicyMatcher({ version: 1, policies })
    for (let request = 0; request < 20; request++) {
      const values = new Map(['route', 'method', 'tenant'].map((name) => [name, random.pick(['a', 'b', 'c', 'd'])]))
      const read = (name: string): string | undefined => values.get(name)
      const fitting = matcher.policies.filter((policy) => policy.fits(read, () => {}))
      const left = fitting.filter((policy) => !fitting.some((other) => other.replaces(policy)))
      const applied = matcher.match(read).flatMap((one) => (one ? [one.policy] : []))
      expect(applied.map(({ name }) => name)).toEqual(left.map(({ name }) => name))
    }
  })
})

/** Returns a file with a default policy, and `count` policies for single routes. */
function fileOf(count: number): string {
  const routes = Array.from(
    { length: count },
    (_, index) => `  - { name: r${index}, match: { route: "GET /${index}" }, limit: ${10 + (index % 50)}, per: 1m }\n`,
  )
  return `version: 1\npolicies:\n  - { name: default, limit: 5, per: 1m }\n${routes.join('')}`
}

/** Returns the CPU time in ms of reading and checking a file: the smallest of three. */
function cpuMsOf(count: number): number {
  const text = fileOf(count)
  const times = [1, 2, 3].map(() => {
    const before = process.cpuUsage()
    const document = parsePolicies(text, 'policies.yaml')
    expect(checkPolicies(document)).toEqual([])
    const { user, system } = process.cpuUsage(before)
    return (user + system) / 1000
  })
  return Math.min(...times)
}

test('the time to read and check a file grows in proportion to the number of its policies', () => {
  const [few, many] = [cpuMsOf(250), cpuMsOf(2_000)]
  process.stdout.write(`250 policies: ${few.toFixed(0)} ms, 2,000 policies: ${many.toFixed(0)} ms\n`)
  // eight times as many; a comparison of each pair takes 64 times as long
  expect(many / few).toBeLessThan(24)
})
