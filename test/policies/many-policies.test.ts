import { expect, test } from '@jest/globals'
import { sluice } from '@sluice/fastify'
import { createLimiter } from '@sluice/limiter-core'
import { checkPolicies, PolicyMatcher, parsePolicies, policies, type WrittenPolicy } from '@sluice/policies'
import { eachSeed, type SeededRandom } from '@sluice/testkit'
import { type FastifyReply, type FastifyRequest, fastify } from 'fastify'
import { TextSource } from './text-source.ts'

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

/** Returns a file with a default policy, one for all pages, and `count` policies for other routes. */
function fileOf(count: number): string {
  const routes = Array.from(
    { length: count },
    (_, index) => `  - { name: r${index}, match: { route: "GET /${index}" }, limit: ${10 + (index % 50)}, per: 1m }\n`,
  )
  const page = '{ name: page, match: { route: "GET /:page" }, limit: 1000000, per: 1m }'
  return `version: 1\npolicies:\n  - { name: default, limit: 5, per: 1m }\n  - ${page}\n${routes.join('')}`
}

/** Returns the CPU time in ms of reading, checking and opening a file: the smaller of two. */
function cpuMsOf(count: number): number {
  const text = fileOf(count)
  const times = [1, 2].map(() => {
    const before = process.cpuUsage()
    const document = parsePolicies(text, 'policies.yaml')
    expect(checkPolicies(document)).toEqual([])
    const inputs = document.policies.map(({ name, limit }) => ({ name, limit: Number(limit), window: '1m' as const }))
    createLimiter({ policies: inputs }).close()
    const { user, system } = process.cpuUsage(before)
    return (user + system) / 1000
  })
  return Math.min(...times)
}

test('the time to read, check and open a file grows in proportion to the number of its policies', () => {
  const [few, many] = [cpuMsOf(150), cpuMsOf(1_200)]
  process.stdout.write(`150 policies: ${few.toFixed(0)} ms, 1,200 policies: ${many.toFixed(0)} ms\n`)
  // eight times as many; a comparison of each pair takes 64 times as long
  expect(many / few).toBeLessThan(24)
})

/** Returns the CPU time in ms of checking a default policy and the policies that replace it: the smaller of two. */
function cpuMsOfCheck(count: number): number {
  const routes = Array.from({ length: count }, (_, index) => ({
    ...{ name: `r${index}`, match: { route: `GET /${index}` }, limit: 10, per: '1m' },
  }))
  const document = { version: 1, policies: [{ name: 'default', limit: 5, per: '1m' }, ...routes] } as const
  const times = [1, 2].map(() => {
    const before = process.cpuUsage()
    expect(checkPolicies(document)).toEqual([])
    const { user, system } = process.cpuUsage(before)
    return (user + system) / 1000
  })
  return Math.min(...times)
}

test('the time to check a file grows in proportion to the number of policies that replace one', () => {
  const [few, many] = [cpuMsOfCheck(500), cpuMsOfCheck(4_000)]
  process.stdout.write(`500 policies: ${few.toFixed(0)} ms, 4,000 policies: ${many.toFixed(0)} ms\n`)
  expect(many / few).toBeLessThan(24)
})

/** Returns the CPU time in µs of a request to which two of the policies of a file fit: the smallest of ten. */
async function cpuUsOfRequest(count: number): Promise<number> {
  const app = fastify()
  const rateLimit = policies<FastifyRequest, FastifyReply>(new TextSource(fileOf(count)))
  await app.register(sluice, { rateLimit })
  app.get('/:page', async () => 'page')
  const ask = async (): Promise<void> => {
    const { statusCode, headers } = await app.inject('/7')
    expect(statusCode).toBe(200)
    expect(headers['ratelimit-policy']).toBe('"page";q=1000000;w=60')
  }
  const times: number[] = []
  for (let round = 0; round < 10; round++) {
    const before = process.cpuUsage()
    for (let request = 0; request < 100; request++) await ask()
    const { user, system } = process.cpuUsage(before)
    times.push((user + system) / 100)
  }
  await app.close()
  return Math.min(...times)
}

test('a request takes about as long with 1,500 policies as with 30, if the same ones apply', async () => {
  const [few, many] = [await cpuUsOfRequest(30), await cpuUsOfRequest(1_500)]
  process.stdout.write(`30 policies: ${few.toFixed(0)} µs a request, 1,500 policies: ${many.toFixed(0)} µs\n`)
  // it took about 40 times as long when the key source of each policy was called
  expect(many / few).toBeLessThan(8)
})
