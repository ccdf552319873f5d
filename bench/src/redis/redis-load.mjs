import { keyAt } from '../decisions/loads.mjs'
import { seededRandom } from '../run/random.mjs'

const hotKeys = 256
const calls = 2 ** 16

/** 98 of 100 decisions use one of 256 hot keys, two use a new key. */
const hotShare = 0.98

/** Returns a function that returns the key of the next decision. */
export function openRedisLoad(seed) {
  const random = seededRandom(seed)
  const hot = Array.from({ length: hotKeys }, (_, index) => keyAt(index))
  // -1 stands for a fresh key
  const order = Int16Array.from({ length: calls }, () => (random() < hotShare ? random() * hotKeys : -1))
  let call = 0
  let fresh = hotKeys
  return () => {
    const index = order[call++ & (calls - 1)]
    return index < 0 ? keyAt(fresh++ & 0xffffff) : hot[index]
  }
}
