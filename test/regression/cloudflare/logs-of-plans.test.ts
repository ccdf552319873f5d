import { describe, expect, test } from '@jest/globals'
import { durableObjectBackend } from '@sluice/cloudflare'
import { compiledOf, sentPolicyOf } from '@sluice/fleet/backend'
import { memoryBackend } from '@sluice/limiter-core'
import { type Backend, type CompiledPolicy, type Policy, PolicyVariants } from '@sluice/limiter-core/backend'
import { FakeClock, seededRandom } from '@sluice/testkit'
import { InProcessObjects } from '../../cloudflare/in-process-objects.ts'
import { type PlanPolicy, PlanSite } from '../../plans/plan-site.ts'

const LARGEST_LOG = 128
const HOUR = 3_600_000
const MINUTE = 60_000

function log(limit: number, windowMs: number): PlanPolicy & Policy {
  return { name: 'log', algorithm: 'sliding-log', limit, windowMs }
}

test('logs keep their room when their policy is sent, for any plans and overrides', () => {
  const random = seededRandom(1)
  const roomsOf = ({ room, cells, variants }: CompiledPolicy): unknown => [
    cells,
    room,
    variants?.map(({ compiled }) => compiled.room),
  ]
  for (let run = 0; run < 500; run++) {
    const policies = Array.from({ length: 1 + random.whole(3) }, () =>
      log(1 + random.whole(LARGEST_LOG), random.pick([MINUTE, HOUR])),
    )
    const variants = new PolicyVariants(policies, random.pick([0, LARGEST_LOG, Number.POSITIVE_INFINITY]))
    for (const policy of policies) {
      const compiled = variants.compile(policy)
      expect(roomsOf(compiledOf(JSON.parse(JSON.stringify(sentPolicyOf(compiled)))))).toEqual(roomsOf(compiled))
    }
  }
})

describe('Durable Objects decide logs of several plans like memory', () => {
  test.each([
    ['a log of the largest length beside another', log(10, MINUTE), log(LARGEST_LOG, HOUR), log(128, MINUTE)],
    ['logs that share cells', log(10, HOUR), log(LARGEST_LOG, HOUR), log(90, HOUR)],
  ])('%s', async (_what, free, pro, most) => {
    const decided = async (backendOf: (clock: FakeClock) => Backend): Promise<readonly number[]> => {
      const clock = new FakeClock()
      const site = new PlanSite({ free, pro, most }, clock, backendOf(clock))
      const left: number[] = []
      const taken = await site.take('pro', LARGEST_LOG)
      left.push(taken.binding.remaining, await site.left('free'))
      await site.charge('free', -1, taken)
      left.push(await site.left('pro'), await site.left('most'), (await site.take('pro', 2)).binding.remaining)
      clock.advance(MINUTE)
      left.push(await site.left('free'), (await site.take('most')).binding.remaining)
      site.close()
      return left
    }
    const objects = new InProcessObjects()
    const inObjects = (clock: FakeClock): Backend =>
      durableObjectBackend(objects, { clock, serverTime: () => clock.now() })
    expect(await decided(inObjects)).toEqual(await decided((clock) => memoryBackend({ clock })))
  })
})
