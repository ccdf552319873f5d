import { targetColumns, targetRow } from '../run/target.mjs'
import { speedOf, timesFloor } from './sketch-figures.mjs'

const floorLoads = { warm15: '15 characters', warm40: '40 characters', fresh15: '15 fresh', integers: 'integers' }

/** `of`: measurements of each family. */
export function targetTable(families, of) {
  const named = (family, name) => families[family].contenders.find((one) => one.name === name)
  const ns = (family, name, load) => speedOf(of[family], named(family, name), load).middle
  const floors = families.counters.contenders.filter(({ floor }) => floor !== undefined)
  const blooms = families.blooms.contenders.filter(({ name }) => /^[A-Z]\w*BloomFilter$|^BloomFilter$/.test(name))
  const rows = [
    ...floors.flatMap((one) =>
      Object.entries(floorLoads).map(([load, title]) =>
        targetRow(
          `${one.name}, ${title}: × its floor`,
          timesFloor(of.counters, one, named('counters', one.floor), load),
          1.2,
        ),
      ),
    ),
    targetRow('HyperLogLog: ns per key of 15 characters', ns('uniques', 'HyperLogLog', 'warm15'), 100),
    targetRow('RedisHyperLogLog: ns per key of 15 characters', ns('uniques', 'RedisHyperLogLog', 'warm15'), 200),
    ...['k2', 'k1'].map((scale) =>
      targetRow(`TDigest ${scale}: ns a value`, ns('quantiles', `TDigest ${scale}`, 'exponential'), 100),
    ),
    lossRow(families.article.lost(of.article)),
    ...blooms.map((one) => {
      const { measured, stated } = of.blooms.errors(one)
      return targetRow(`${one.name}: false positives, measured × stated`, measured / stated, 1.2)
    }),
    ...garbageRows(families, of),
  ]
  return {
    title: 'Sketch targets',
    columns: targetColumns,
    rows,
    notes: ['Floors: medians within a round, minus the noop of that round.'],
  }
}

/** Meaningful only if plain cells lost counts: otherwise the two workers never ran at the same time. */
function lossRow({ atomics, plain }) {
  const row = targetRow('Two workers, Atomics: counts lost %', atomics, 0)
  return plain > 0 || atomics > 0 ? row : row.with(3, 'not shown: plain cells lost none')
}

/** Functions called for every request create no garbage: less than a byte per call; the smallest object has 16. */
function garbageRows(families, of) {
  const ours = [
    ['counters', 'Estimator 4 x 1024'],
    ['counters', 'CountMin 4 x 65536'],
    ['uniques', 'HyperLogLog'],
    ['quantiles', 'TDigest k2'],
    ['blooms', 'BloomFilter'],
  ]
  return ours.map(([family, name]) => {
    const contender = families[family].contenders.find((one) => one.name === name)
    return targetRow(`${name}: garbage, bytes a call`, of[family].held(contender).garbage, 1)
  })
}
