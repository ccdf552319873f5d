import { seededRandom, shuffled } from '../run/random.mjs'

/** `keys`: number of distinct keys; `fresh`: each call gets a new string object, as a request does. */
export const loads = {
  hot: { title: 'hot key', keys: 1 },
  uni10k: { title: '10k keys', keys: 10_000 },
  fresh10k: { title: '10k fresh', keys: 10_000, fresh: true },
  uni1m: { title: '1M keys', keys: 1_000_000 },
  zipf10k: { title: 'Zipf 10k', keys: 10_000, zipf: true },
  zipf1m: { title: 'Zipf 1M', keys: 1_000_000, zipf: true },
}

// a smoke run checks that the harness works, not the cost of a million keys
const smokeKeys = 2_000

const text = Buffer.from('ip:203.255.255.255', 'latin1')
const zero = 48
const dot = 46

function writeNumber(at, value) {
  let end = at
  if (value > 99) text[end++] = zero + Math.floor(value / 100)
  if (value > 9) text[end++] = zero + (Math.floor(value / 10) % 10)
  text[end++] = zero + (value % 10)
  return end
}

/** A flat string for each index below 2^24, made by latin1Slice as the HTTP parser makes header values. */
export function keyAt(index) {
  let end = writeNumber(7, (index >>> 16) & 255)
  text[end++] = dot
  end = writeNumber(end, (index >>> 8) & 255)
  text[end++] = dot
  return text.latin1Slice(0, writeNumber(end, index & 255))
}

/** `keys` in order of insertion, and `next(call)`, which returns the key of the n-th call. */
export function openLoad(name, { smoke = false, seed = 1 } = {}) {
  const load = loads[name]
  const count = smoke ? Math.min(load.keys, smokeKeys) : load.keys
  const keys = Array.from({ length: count }, (_, index) => keyAt(index))
  const random = seededRandom(seed)
  const calls = smoke ? 2 ** 12 : count <= 10_000 ? 2 ** 16 : 2 ** 21
  const mask = calls - 1
  const order = load.zipf ? zipfOrder(count, calls, random) : uniformOrder(count, calls, random)
  if (!load.fresh) return { keys, next: (call) => keys[order[call & mask]] }
  return { keys, next: freshStrings(keys, order, mask) }
}

function uniformOrder(count, calls, random) {
  const order = new Uint32Array(calls)
  for (let call = 0; call < calls; call++) order[call] = Math.floor(random() * count)
  return order
}

/** Zipf with s = 1 by binary search in the cumulative weights; ranks are assigned to keys at random. */
function zipfOrder(count, calls, random) {
  const reach = new Float64Array(count)
  let total = 0
  for (let rank = 0; rank < count; rank++) reach[rank] = total += 1 / (rank + 1)
  const keyOfRank = shuffled(
    Uint32Array.from({ length: count }, (_, index) => index),
    random,
  )
  const order = new Uint32Array(calls)
  for (let call = 0; call < calls; call++) order[call] = keyOfRank[rankAt(reach, random() * total)]
  return order
}

function rankAt(reach, weight) {
  let low = 0
  let high = reach.length - 1
  while (low < high) {
    const middle = (low + high) >> 1
    if (reach[middle] > weight) high = middle
    else low = middle + 1
  }
  return low
}

function freshStrings(keys, order, mask) {
  const bytes = Buffer.from(keys.join(''), 'latin1')
  const starts = new Uint32Array(keys.length + 1)
  for (let index = 0; index < keys.length; index++) starts[index + 1] = starts[index] + keys[index].length
  return (call) => {
    const index = order[call & mask]
    return bytes.latin1Slice(starts[index], starts[index + 1])
  }
}
