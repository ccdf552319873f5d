import { chooseHttpContenders } from './http-contenders.mjs'
import { openSites, startLoad } from './http-site.mjs'
import { httpTargetTable } from './http-targets.mjs'
import { median } from './median.mjs'
import { seededRandom, shuffled } from './random.mjs'

const warmupSeconds = 2

/** `seconds`: duration for each server and round, in turns of one second. */
export async function run({ smoke = false, rounds = 3, only = '', seconds = 5, progress = () => {} } = {}) {
  const chosen = chooseHttpContenders(only)
  const groups = [...new Set(chosen.map(({ group }) => group))]
  const load = startLoad()
  try {
    const taken = smoke
      ? [await smokeOf(groups, chosen, load)]
      : await turnsOf(groups, chosen, { rounds, turns: Math.ceil(seconds), load, progress })
    const measured = measuredOf(chosen, taken)
    return [...groups.map((group) => costTable(group, chosen, measured)), httpTargetTable(chosen, measured)]
  } finally {
    load.close()
  }
}

/** One short load for each, all in parallel, because autocannon checks the clock once a second. */
async function smokeOf(groups, chosen, load) {
  const results = {}
  const smoke = async (group) => {
    const { sites, close } = await openSites(ofGroup(chosen, group), load)
    const measure = async (site) => {
      await site.warmUp(0)
      results[site.contender.name] = await site.measure({ amount: 64 })
    }
    await Promise.all(sites.map(measure))
    close()
  }
  await Promise.all(groups.map(smoke))
  return results
}

function ofGroup(chosen, group) {
  return chosen.filter((contender) => contender.group === group)
}

/** The servers of a group run in fresh parallel processes and take turns, in a different order each time. */
async function turnsOf(groups, chosen, { rounds, turns, load, progress }) {
  const random = seededRandom(21)
  const taken = Array.from({ length: rounds * turns }, () => ({}))
  for (let round = 0; round < rounds; round++) {
    for (const group of groups) {
      progress(`http, round ${round + 1}: ${group}`)
      const opened = []
      for (const contender of ofGroup(chosen, group)) opened.push(await openSites([contender], load))
      const sites = opened.flatMap((one) => one.sites)
      for (const site of sites) await site.warmUp(warmupSeconds)
      for (let turn = 0; turn < turns; turn++) {
        const results = taken[round * turns + turn]
        for (const site of shuffled(sites, random)) {
          results[site.contender.name] = await site.measure({ seconds: 1 })
        }
      }
      for (const one of opened) one.close()
    }
  }
  return taken
}

/** Medians over all turns; differences are computed within a turn. */
function measuredOf(chosen, taken) {
  const of = (read) => median(taken.map(read))
  const bare = new Map(chosen.map((contender) => [contender.name, contender.bare]))
  return {
    cpuUs: (name) => of((results) => results[name].cpuUs),
    perSecond: (name) => of((results) => results[name].perSecond),
    added: (name) => of((results) => results[name].cpuUs - results[bare.get(name)].cpuUs),
    addedOn: (name, other) => of((results) => results[name].cpuUs - results[other].cpuUs),
    addedPercent: (name) => of((results) => (results[name].cpuUs / results[bare.get(name)].cpuUs - 1) * 100),
  }
}

function costTable(group, chosen, { cpuUs, added, addedPercent, perSecond }) {
  return {
    title: `${group}: CPU per request`,
    columns: ['server', 'CPU µs/request', 'added µs', 'added %', 'requests/s'],
    rows: ofGroup(chosen, group).map(({ name }) => [
      name,
      cpuUs(name),
      added(name),
      addedPercent(name),
      perSecond(name),
    ]),
    notes: [],
  }
}
