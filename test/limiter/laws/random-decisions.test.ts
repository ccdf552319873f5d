import { expect, test } from '@jest/globals'
import { type FetchReply, rateLimit } from '@sluice/fetch'
import { memoryBackend } from '@sluice/limiter-core'
import { policies } from '@sluice/policies'
import { eachSeed, FakeClock, type SeededRandom } from '@sluice/testkit'
import { TextSource } from '../../policies/text-source.ts'
import { Operator } from '../controls/controlled.ts'

const ALGORITHMS = ['fixed-window', 'sliding-window', 'sliding-log', 'token-bucket', 'gcra'] as const
const WINDOWS = [10_000, 60_000, 600_000]
const LONGEST_MS = 10 * 2 * 600_000
const RUNS = 25
const STEPS = 80

/** A policy of one name, whose client has `limit` units in the window. */
function anyPolicy(random: SeededRandom, features: Set<string>): { text: string; limit: number; windowMs: number } {
  const algorithm = random.pick(ALGORITHMS)
  const limit = 1 + random.whole(20)
  const windowMs = random.pick(WINDOWS)
  const form = random.pick(['number', 'plan', 'override'] as const)
  const slices = algorithm === 'sliding-window' ? random.pick([undefined, 2, 4]) : undefined
  const more = random.pick([undefined, undefined, { retry: 'booked' }])
  for (const feature of [algorithm, form, slices && `slices`, more && Object.keys(more)[0]])
    if (feature) features.add(feature)
  const written = form === 'plan' ? { free: limit, pro: 20 } : form === 'override' ? 7 : limit
  const policy = {
    name: 'api',
    limit: written,
    per: `${windowMs / 1_000}s`,
    algorithm,
    ...(slices && { slices }),
    ...more,
  }
  const overrides = form === 'override' ? { overrides: [{ policy: 'api', key: '192.0.2.1', limit }] } : {}
  return { text: JSON.stringify({ version: 1, policies: [policy], ...overrides }), limit, windowMs }
}

const pairs = new Map<string, number>()

test('random policies, changes and controls keep the laws of decisions', async () => {
  await eachSeed(RUNS, async (random, seed) => {
    const clock = new FakeClock({ nowMs: 1_000_000 })
    const operator = new Operator()
    const features = new Set<string>()
    let policy = anyPolicy(random, features)
    const source = new TextSource(policy.text)
    const loaded = policies<Request, FetchReply>(source, { attributes: { plan: () => 'free' } })
    const limit = rateLimit({ ...loaded, clock, backend: memoryBackend({ clock }), observers: [operator] })
    const handle = limit.wrap(() => new Response('ok'))
    const ask = async (): Promise<number> => (await handle(new Request('http://x/'), { ip: '192.0.2.1' })).status
    const key = '192.0.2.1'
    const left = async (): Promise<number> => (await limit.limiter.peek(key, 0)).binding.remaining
    await ask()
    for (let step = 0; step < STEPS; step++) {
      const where = [seed, step, policy.text]
      const kind = random.pick(['ask', 'ask', 'ask', 'denied', 'refund', 'control', 'block', 'reload', 'pass'] as const)
      features.add(kind)
      if (kind === 'ask') await ask()
      else if (kind === 'denied') {
        const before = await left()
        const taken = await limit.limiter.take(key, policy.limit + 1)
        expect([...where, taken.allowed, await left()]).toEqual([...where, false, before])
      } else if (kind === 'refund') {
        const taken = await limit.limiter.take(key, 1)
        const after = await left()
        if (taken.allowed) await limit.limiter.charge(key, -1, taken)
        expect([...where, (await left()) - after <= 1, (await left()) <= policy.limit]).toEqual([...where, true, true])
      } else if (kind === 'control' || kind === 'block') {
        const before = await left()
        const control = random.pick([{ mode: 'off' }, { mode: 'shadow' }, { limit: 3 }] as const)
        operator.setControls(kind === 'control' ? { api: control } : {}, kind === 'block' ? { [key]: 1_000 } : {})
        await limit.limiter.peek(key)
        operator.release()
        expect([...where, await left()]).toEqual([...where, before])
      } else if (kind === 'reload') {
        const wasFull = (await left()) === policy.limit
        const used = policy.limit - (await left())
        const next = anyPolicy(random, features)
        source.text = next.text
        await loaded.policies.reload()
        policy = next
        await ask()
        if (wasFull) continue
        // what was used before is not less afterwards, up to the new limit
        const kept = policy.limit - (await left())
        expect([...where, next.text, used, kept, kept >= Math.min(used, policy.limit) - 1]).toEqual([
          ...where,
          next.text,
          used,
          kept,
          true,
        ])
      } else clock.advance(random.whole(policy.windowMs))
    }
    clock.advance(LONGEST_MS)
    expect([seed, policy.text, await left()]).toEqual([seed, policy.text, policy.limit])
    const all = [...features].sort()
    for (const one of all)
      for (const other of all) if (one < other) pairs.set(`${one} ${other}`, (pairs.get(`${one} ${other}`) ?? 0) + 1)
    limit.close()
  })
  console.info(`${pairs.size} pairs of features, the rarest in ${Math.min(...pairs.values())} of ${RUNS} runs`)
})
