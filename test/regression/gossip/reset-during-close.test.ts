import { expect, test } from '@jest/globals'
import { gossipCounters } from '@sluice/gossip'
import { seededRandom } from '@sluice/testkit'
import { GossipFleet } from '../../gossip/gossip-fleet.ts'

// regression: the reset resolved, although it was written after the last exchange, so no other replica received it
test.each(['reset', 'delete'] as const)(
  'a %s that has not been sent when the counters close rejects',
  async (method) => {
    const fleet = new GossipFleet(seededRandom(1), { delayMs: 20 })
    const [one, other] = [0, 1].map(() => gossipCounters(fleet.start()))
    await one.increment('a', 5)
    await fleet.run(3_000)
    expect((await other.read('a')).value).toBe(5)
    const result = one[method]('a').then(
      () => 'resolved',
      (error) => error.code,
    )
    const closed = one.close()
    await fleet.run(3_000)
    await closed
    const { value } = await other.read('a')
    expect([await result, value]).toEqual(['SLUICE_COUNTERS_CLOSED', 5])
    await fleet.stop()
  },
)
