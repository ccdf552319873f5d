import { expect, test } from '@jest/globals'
import { prometheusText } from '@sluice/fleet/metrics'
import { createGossip } from '@sluice/gossip'
import { FakeClock } from '@sluice/testkit'

test.each([undefined, null, 0, '', 'offline'])('a peer that rejects with %p is counted as failed', async (reason) => {
  const peer = { name: 'peer', exchange: () => Promise.reject(reason) }
  const node = createGossip({ peers: [peer], clock: new FakeClock() })
  expect(await node.exchangeWithOne()).toBe(false)
  expect(await node.exchangeWithAll()).toEqual({ answered: 0, asked: 1 })
  expect(prometheusText(node)).toContain('sluice_gossip_exchanges_total{result="error"} 2')
  expect(prometheusText(node)).not.toContain('result="ok"')
  await node.close()
})
