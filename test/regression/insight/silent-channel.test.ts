import { expect, test } from '@jest/globals'
import { createInsight } from '@sluice/insight'
import { type Channel, createLimiter, memoryBackend } from '@sluice/limiter-core'
import { FakeClock } from '@sluice/testkit'

/** An insight whose channel never settles a message. */
function silent() {
  const clock = new FakeClock({ wallMs: 1_700_000_000_000 })
  const sent: Uint8Array[] = []
  const channel: Channel = {
    publish: (topic, bytes) => {
      if (topic === 'sluice.insight.control') sent.push(bytes)
      return new Promise(() => {})
    },
    subscribe: () => () => {},
    close: () => {},
  }
  const insight = createInsight({ clock, channel, secret: 'a secret of all processes' })
  const policies = [{ name: 'api', limit: 2, window: '1h', algorithm: 'fixed-window' }] as const
  createLimiter({ policies, clock, observers: [insight], backend: memoryBackend({ clock }) })
  return { clock, insight, sent }
}

test('a change is reported as made after two seconds if the channel never settles its message', async () => {
  const { clock, insight } = silent()
  const made = insight.control({ action: 'mode', policy: 'api', mode: 'off', by: 'ops' })
  clock.advance(2_000)
  expect(await made).toMatchObject({ policy: 'api', mode: 'off' })
  const closed = insight.close()
  clock.advance(2_000)
  await closed
})

test('all messages are sent if the channel does not settle the first one', async () => {
  const { clock, insight, sent } = silent()
  // 100 long keys need several messages
  for (let n = 0; n < 100; n++) void insight.control({ action: 'block', key: `${n}`.padEnd(1_000, 'k') })
  sent.length = 0
  clock.advance(1_000)
  expect(sent.length).toBeGreaterThan(1)
  const closed = insight.close()
  clock.advance(3_000)
  await closed
})
