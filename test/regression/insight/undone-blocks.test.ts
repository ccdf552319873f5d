import { expect, test } from '@jest/globals'
import { MemoryLedger } from '@sluice/counters'
import { createInsight, type Insight } from '@sluice/insight'
import { afterThisTurn } from '@sluice/limiter-core/backend'
import { FakeClock } from '@sluice/testkit'
import { endedAfterEach } from '../../services/for-tests.ts'

const open = endedAfterEach<Insight>((insight) => insight.close())

// regression: the record of how a change was undone has no key, and took the place of the record of how it began
test('the audit log names the key of an undone block after all processes have stopped', async () => {
  const clock = new FakeClock({ wallMs: 1_700_000_000_000 })
  const store = new MemoryLedger(clock).openRecords('limits')
  const start = (): Insight => {
    const insight = createInsight({ clock, secret: 'a secret of all processes', privacy: 'full', control: { store } })
    open.push(insight)
    return insight
  }
  const texts = (insight: Insight): string[] => insight.audit().map(({ text }) => text)
  const first = start()
  const { id } = await first.control({ action: 'block', key: 'villain', by: 'ann' })
  clock.advance(1_000)
  await first.undo(id, 'bob')
  const before = texts(first)
  await first.close()
  const second = start()
  clock.advance(1_000)
  for (let turn = 0; turn < 5; turn++) await new Promise<void>((resolve) => afterThisTurn(resolve))
  expect(texts(second)).toEqual(before)
})
