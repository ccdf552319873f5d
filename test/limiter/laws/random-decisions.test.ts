import { expect, test } from '@jest/globals'
import { type FetchReply, rateLimit } from '@sluice/fetch'
import { memoryBackend } from '@sluice/limiter-core'
import { policies } from '@sluice/policies'
import { eachSeed, FakeClock } from '@sluice/testkit'
import { TextSource } from '../../policies/text-source.ts'
import { Operator } from '../controls/controlled.ts'
import { drawPolicy, KEY as key } from './drawn-policy.ts'

const LONGEST_MS = 10 * 2 * 600_000
const RUNS = 25
const STEPS = 80

const TERMS = [{}, {}, { retry: 'booked' }]

const pairs = new Map<string, number>()

test('random policies, changes and controls keep the laws of decisions', async () => {
  await eachSeed(RUNS, async (random, seed) => {
    const clock = new FakeClock({ nowMs: 1_000_000 })
    const operator = new Operator()
    const features = new Set<string>()
    let policy = drawPolicy(random, features, TERMS)
    const source = new TextSource(policy.text)
    const loaded = policies<Request, FetchReply>(source, { attributes: { plan: () => 'free' } })
    const limit = rateLimit({ ...loaded, clock, backend: memoryBackend({ clock }), observers: [operator] })
    const handle = limit.wrap(() => new Response('ok'))
    const ask = async (): Promise<number> => (await handle(new Request('http://x/'), { ip: key })).status
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
        const next = drawPolicy(random, features, TERMS)
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
