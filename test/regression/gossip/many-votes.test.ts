import { expect, test } from '@jest/globals'
import { prometheusText } from '@sluice/fleet/metrics'
import { gossipCounters } from '@sluice/gossip'
import { eachSeed } from '@sluice/testkit'
import { GossipFleet } from '../../gossip/gossip-fleet.ts'
import { counterLog, HostileSender, sampleOf } from '../../gossip/hostile-sender.ts'

const GONE = 700

test('three replicas take over 700 replicas that are gone, though more votes than fit in an item are due', () =>
  eachSeed(1, async (random) => {
    const fleet = new GossipFleet(random, { loss: 0.1, delayMs: 10 })
    const counting = [fleet.start(), fleet.start(), fleet.start()].map((node) => ({
      node,
      counters: gossipCounters(node, { deadAfterMs: '2s' }),
    }))
    await fleet.run(5_000, 50)
    const sender = new HostileSender()
    // the replicas learn of different ones first
    for (let n = 0; n < GONE; n++) {
      const status = [`gone-${n}`, 0, 0, 0, []]
      sender.pushLog(counting[n % 3].node, counterLog(n), [
        ['counters:id:a', [0, 1, 0]],
        ['counters:member', status],
      ])
    }
    const samples = (state: string): (number | undefined)[] =>
      counting.map(({ counters }) =>
        sampleOf(prometheusText(counters), `sluice_gossip_counter_replicas{state="${state}"}`),
      )
    await fleet.run(1_000, 50)
    expect(samples('live')).toEqual([GONE + 3, GONE + 3, GONE + 3])
    for (let second = 0; second < 60 && samples('dead').join() + samples('live').join() !== '0,0,03,3,3'; second++) {
      await fleet.run(1_000, 50)
    }
    expect(samples('dead')).toEqual([0, 0, 0])
    expect(samples('live')).toEqual([3, 3, 3])
    for (const { counters } of counting) expect((await counters.read('a')).value).toBe(GONE)
    await fleet.stop()
  }))
