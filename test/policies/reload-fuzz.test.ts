import { expect, jest, test } from '@jest/globals'
import { type FetchReply, rateLimit } from '@sluice/fetch'
import { memoryBackend, type PolicyVerdict as Verdict } from '@sluice/limiter-core'
import { policies } from '@sluice/policies'
import { eachSeed, FakeClock, type SeededRandom } from '@sluice/testkit'
import { TextSource } from './text-source.ts'

const NAMES = ['other-0', 'other-1', 'other-2', 'other-3']
const USERS = ['anna', 'ben', 'carl', 'dora']
const INVALID = [
  '{',
  'version: 2',
  'version: 1\npolicies: []',
  'version: 1\npolicies: [{ name: p, limit: 0, per: 1h }]',
  'version: 1\npolicies: [{ name: p, limit: 1, per: 1h, when: "1 +" }]',
  'version: 1\npolicies: [{ name: p, limit: 1, per: 1h, key: nobody }]',
  'version: 1\npolicies: [{ name: p, limit: 1, per: 1h }, { name: p, limit: 2, per: 1h }]',
  'version: 1\npolicies: [{ name: p, limit: 1, per: 1h, burst: 5, algorithm: sliding-log }]',
  'version: 1\npolicies: [{ name: p, limit: 5000000, per: 1h, algorithm: sliding-log }]',
]

interface Rules {
  readonly limit: number
  readonly mode: 'enforce' | 'shadow' | 'off'
  readonly window: string
}

function anyRules(random: SeededRandom): Rules {
  return {
    limit: 1 + random.whole(30),
    mode: random.pick(['enforce', 'enforce', 'enforce', 'shadow', 'off']),
    window: random.pick(['1h', '2h', '1d']),
  }
}

function documentOf({ limit, mode, window }: Rules, random: SeededRandom): string {
  const p = { name: 'p', key: 'user', limit, mode, per: window, algorithm: 'sliding-log' }
  const others = Array.from({ length: random.whole(4) }, (_, index) => ({
    name: `other-${index}`,
    limit: 50_000 + random.whole(10),
    per: random.pick(['1m', '1h']),
    key: random.pick(['user', 'address']),
    algorithm: random.pick(['fixed-window', 'sliding-window', 'token-bucket', 'gcra']),
    mode: random.pick(['enforce', 'shadow', 'off']),
    unit: `unit-${index}`,
  }))
  return JSON.stringify({ version: 1, policies: [p, ...others] })
}

test('random documents under load neither free nor jail a key, and no valid one is missed', async () => {
  const warn = jest.spyOn(process, 'emitWarning').mockImplementation(() => {})
  await eachSeed(6, async (random) => {
    const clock = new FakeClock()
    let rules = anyRules(random)
    const source = new TextSource(documentOf(rules, random))
    const options = policies<Request, FetchReply>(source, {
      watch: true,
      attributes: {
        // answers later, so that changes meet requests that wait
        user: async (request) => {
          for (let turns = random.whole(4); turns > 0; turns--) await null
          return request.headers.get('x-user') ?? undefined
        },
      },
    })
    const limit = rateLimit({ ...options, backend: memoryBackend({ clock }), clock })
    const handle = limit.wrap(() => new Response('ok'))
    /** Units of each user that the policy has counted, as far as it can show them: at most its limit. */
    const used = new Map(USERS.map((user) => [user, 0]))
    /** Units that were admitted and may not show: the policy was off, or its limit was reached. */
    const unseen = new Map<string, number>()
    for (let round = 0; round < 120; round++) {
      const before = rules
      const mayHide = unseen.size > 0
      const requests = Array.from({ length: random.whole(6) }, async () => {
        const user = random.pick(USERS)
        const { status } = await handle(new Request('http://localhost/', { headers: { 'x-user': user } }))
        expect([200, 429]).toContain(status)
        return status === 200 ? user : undefined
      })
      if (random.whole(3) === 0) {
        rules = anyRules(random)
        source.text = documentOf(rules, random)
      } else if (random.whole(2) === 0) source.text = random.pick(INVALID)
      const passed = await Promise.all(requests)
      await options.policies.reload()
      const [policy] = options.policies.current
      expect([policy.limit, policy.window, policy.mode]).toEqual([rules.limit, rules.window, rules.mode])
      for (const user of passed) if (user) unseen.set(user, (unseen.get(user) ?? 0) + 1)
      if (rules.mode === 'off') continue
      for (const user of USERS) {
        const { verdicts } = await limit.limiter.peek({
          ...Object.fromEntries(NAMES.map((name) => [name, 'x'])),
          p: user,
        })
        const known = used.get(user) as number
        const units = unseen.get(user) ?? 0
        const verdict = verdicts.find(({ policy }) => policy.name === 'p')
        const now = rules.limit - (verdict as Verdict).remaining
        // no unit is freed, and none appears that no request took
        expect(now).toBeGreaterThanOrEqual(Math.min(rules.limit, known))
        expect(now).toBeLessThanOrEqual(known + units)
        const isExact =
          !mayHide && before.mode === 'enforce' && rules.mode === 'enforce' && before.limit === rules.limit
        if (isExact) expect(now).toBe(Math.min(rules.limit, known + units))
        used.set(user, Math.max(known, now))
        // a limit that is reached hides further units
        if (now < rules.limit) unseen.delete(user)
      }
    }
    options.policies.close()
    limit.close()
  })
  warn.mockRestore()
})
