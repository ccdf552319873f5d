import { expect, test } from '@jest/globals'
import { blockList } from '@sluice/sketches/limits'
import { FakeClock } from '@sluice/testkit'

// regression: an answer that arrived after `forgetAnswers` was remembered although it was asked for before
test('a key that was removed is not remembered by a call that began before', async () => {
  let isListed = true
  const replies: (() => void)[] = []
  const list = blockList({
    capacity: 100,
    clock: new FakeClock(),
    remember: { ttlMs: '1h' },
    exact: () => {
      const answer = isListed
      return new Promise((resolve) => replies.push(() => resolve(answer)))
    },
  })
  list.add('user')
  const before = list.has('user')
  isListed = false
  list.forgetAnswers()
  replies[0]()
  expect(await before).toBe(true)
  const after = list.has('user')
  replies[1]?.()
  expect(await after).toBe(false)
  list.close()
})
