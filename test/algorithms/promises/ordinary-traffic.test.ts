import { describe, expect, test } from '@jest/globals'
import { baseSeed, seededRandom } from '@sluice/testkit'
import { contenders, type Judgement, judge, streams } from './ordinary-traffic.ts'

const COUNT = 30_000

function judged(contender: string, { arrivals }: (typeof streams)[number]): Judgement {
  const [, shape] = contenders.find(([name]) => name === contender) ?? contenders[0]
  return judge(shape, arrivals(seededRandom(baseSeed()), COUNT))
}

describe.each(streams)('on $name', (stream) => {
  test('sliding-log makes no wrong decision', () => {
    const { wronglyAllowed, wronglyDenied, worstWindow, admitted } = judged('sliding-log', stream)
    expect([wronglyAllowed, wronglyDenied, admitted]).toEqual([0, 0, 1])
    expect(worstWindow).toBeLessThanOrEqual(1)
  })

  test('sliced windows admit nothing over the limit, and wrongly deny less the more slices there are', () => {
    const [two, ten, sixty] = [2, 10, 60].map((slices) => judged(`sliding-window, ${slices} slices`, stream))
    expect([two, ten, sixty].map(({ wronglyAllowed }) => wronglyAllowed)).toEqual([0, 0, 0])
    expect(ten.wronglyDenied).toBeLessThan(two.wronglyDenied)
    expect(sixty.wronglyDenied).toBeLessThan(ten.wronglyDenied)
  })

  test('weighted epochs admit less over the limit than fixed windows', () => {
    const weighted = judged('sliding-window', stream)
    const fixed = judged('fixed-window', stream)
    expect(weighted.wronglyAllowed).toBeLessThan(fixed.wronglyAllowed)
    expect(weighted.worstWindow).toBeLessThanOrEqual(fixed.worstWindow)
    // in total, weighting costs or gains a client a few percent at most
    expect(Math.abs(weighted.admitted - 1)).toBeLessThan(0.15)
    // near 1 unless clients send bursts as large as a third of their limit
    expect(weighted.worstWindow).toBeLessThan(stream.name.includes('bursts') ? 1.7 : 1.25)
  })
})
