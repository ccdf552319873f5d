import { runChild } from '../run/child.mjs'
import { median } from '../run/median.mjs'
import { targetColumns, targetRow } from '../run/target.mjs'

const cell = new URL('./kernel-cell.mjs', import.meta.url)

/** Forms of a limiter: their names, and the most that a take may cost, compared with a take of one policy. */
const forms = {
  one: { name: 'one policy' },
  two: { name: 'two policies', most: 1.9 },
  five: { name: 'five policies', most: 4 },
  shadow: { name: 'one policy in shadow', most: 1.15 },
  hold: { name: 'a policy that can hold', most: 1.25 },
  ban: { name: 'a policy that can ban', most: 1.25 },
  book: { name: 'a policy that books turns', most: 1.25 },
  override: { name: 'a key with an override', most: 1.3 },
  observer: { name: 'one policy with an observer', most: 1.5 },
}
/** Most that a take of one policy may cost, compared with an increment of the store. */
const MOST_STORES = 1.5

export async function run({ smoke = false, rounds = 3, progress = () => {} } = {}) {
  const runs = []
  for (let run = 0; run < rounds; run++) {
    progress(`kernel: process ${run + 1} of ${rounds}`)
    runs.push(await runChild(cell, smoke ? { rounds: 2, takes: 100 } : { rounds: 100, takes: 10_000 }))
  }
  const ratioTo = (form, to) => median(runs.map((ns) => ns[form] / ns[to]))
  const rows = Object.entries(forms).map(([form, { name }]) => [
    name,
    median(runs.map((ns) => ns[form])),
    ratioTo(form, 'one'),
  ])
  const store = ['`MemoryStore` of express-rate-limit', median(runs.map((ns) => ns.store)), ratioTo('store', 'one')]
  const bounded = Object.entries(forms).filter(([, { most }]) => most !== undefined)
  return [
    {
      title: 'A take in memory, by the form of the limiter',
      columns: ['form', 'ns', '× one policy'],
      rows: [...rows, store],
      notes: [
        'One hot key, always allowed. Each number is the smallest of 100 short rounds in turns, the median of the processes. The store answers with a count and a date, as a promise.',
      ],
    },
    {
      title: 'Kernel targets',
      columns: targetColumns,
      rows: [
        targetRow('one policy, × an increment of `MemoryStore`', ratioTo('one', 'store'), MOST_STORES),
        ...bounded.map(([form, { name, most }]) => targetRow(`${name}, × one policy`, ratioTo(form, 'one'), most)),
      ],
    },
  ]
}
