import { runChild } from '../run/child.mjs'
import { median } from '../run/median.mjs'
import { seededRandom, shuffled } from '../run/random.mjs'
import { hashContenders } from './hash-contenders.mjs'
import { collidingShare, worstSpread } from './hash-quality.mjs'

const cell = new URL('./hash-cell.mjs', import.meta.url)
const cases = [
  { length: 15, fresh: false },
  { length: 40, fresh: false },
  { length: 15, fresh: true },
  { length: 40, fresh: true },
]
const noop = hashContenders[0]

export async function run({ smoke = false, rounds = 3, cellMs = 1_000, only = '', progress = () => {} } = {}) {
  const chosen = hashContenders.filter((one) => one === noop || one.name.includes(only))
  const taken = new Map(chosen.map(({ name }) => [name, cases.map(() => [])]))
  for (let round = 0; round < (smoke ? 1 : rounds); round++) {
    for (const { name } of shuffled(chosen, seededRandom(31 + round))) {
      progress(`hash, round ${round + 1}: ${name}`)
      const options = { name, cases, cellMs: smoke ? 10 : cellMs, slices: smoke ? 2 : 8 }
      const { figures } = await runChild(cell, options)
      for (const [at, figure] of figures.entries()) taken.get(name)[at].push(...figure)
    }
  }
  progress('hash: quality')
  return {
    title: 'Keyed hash of a string: CPU ns per key, min / median',
    columns: [
      'contender',
      ...cases.map(({ length, fresh }) => `${length} characters, ${fresh ? 'fresh' : 'warm'}`),
      'bits',
      'one pair collides under every seed',
      'worst chi-square, σ',
    ],
    rows: chosen.map((contender) => [contender.name, ...speeds(contender, taken), ...quality(contender, smoke)]),
    notes: [
      'Warm: 10,000 strings, used repeatedly; Map.get uses the hash stored in them. Fresh: each string is created by Buffer.latin1Slice, as in an HTTP parser, and was never hashed; the noop row is subtracted from every other row.',
      'Collides: for two pairs of keys, forged for fnv1a and murmur3, the pair that collides under more seeds. Chi-square: the largest distance from its mean, in standard deviations, over structured keys and choices of bits; 3 to 4 is chance.',
    ],
  }
}

function speeds(contender, taken) {
  return cases.map((_, at) => {
    const [own, idle] = [contender, noop].map(({ name }) => taken.get(name)[at])
    const less = contender === noop ? () => 0 : (of) => of(idle)
    const min = (figures) => Math.min(...figures)
    return `${(min(own) - less(min)).toFixed(1)} / ${(median(own) - less(median)).toFixed(1)}`
  })
}

function quality(contender, smoke) {
  if (contender.bits === 0) return ['-', '-', '-']
  const seeds = smoke ? 5 : 1_000
  const share = collidingShare(contender, seeds)
  const verdict = share === 1 ? 'yes' : 'no'
  return [
    String(contender.bits),
    `${verdict}: ${Math.round(share * seeds)} of ${seeds}`,
    worstSpread(contender, smoke ? 1 : 10).toFixed(1),
  ]
}
