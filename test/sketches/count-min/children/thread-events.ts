import type { CountMin } from '@sluice/sketches'
import { seededRandom, zipfKeys } from '@sluice/testkit'

const HOT = 600_000
const ZIPF = 100_000

/** The events of the n-th thread: one hot key, a Zipf stream, and the removal of some of both. */
export function count(sketch: CountMin, thread: number): void {
  const draw = zipfKeys(seededRandom(1_000 + thread), 5_000)
  for (let n = 0; n < HOT; n++) sketch.add('hot')
  for (let n = 0; n < ZIPF; n++) sketch.add(draw(), 1 + (n % 3))
  for (let n = 0; n < HOT / 10; n++) sketch.remove('hot')
}
