import { expect, test } from '@jest/globals'
import { eachSeed } from '@sluice/testkit'
import { RingPoints } from '../../packages/fleet/src/ring/ring-points.ts'

function ringOf(points: readonly number[]): RingPoints {
  return new RingPoints(Float64Array.from(points, (point, owner) => RingPoints.markOf(point, owner)))
}

test.each([
  [0, 0],
  [1e9, 0],
  [1e9 + 1, 1],
  [1.5e9, 1],
  [2e9, 1],
  [3e9, 2],
  [3e9 + 1, 0],
  [2 ** 32 - 1, 0],
])('with points at 1, 2 and 3e9, position %d belongs to point %d', (place, owner) => {
  expect(ringOf([1e9, 2e9, 3e9]).ownerAt(place)).toBe(owner)
})

test('the first owner wins between equal points', () => {
  expect(ringOf([5, 5, 4]).ownerAt(5)).toBe(0)
})

test('positions belong to the first point at or after them, however many points there are', () =>
  eachSeed(20, (random) => {
    const points = Array.from({ length: 1 + random.whole(300) }, () => random.whole(2 ** 32))
    const ring = ringOf(points)
    const sorted = points.map((point, owner) => ({ point, owner })).sort((one, other) => one.point - other.point)
    for (let n = 0; n < 500; n++) {
      const place = random.pick([random.whole(2 ** 32), random.pick(points)])
      const first = sorted.find(({ point }) => point >= place) ?? sorted[0]
      expect({ place, owner: ring.ownerAt(place) }).toEqual({ place, owner: first.owner })
    }
  }))
