import { curveOf } from './curves.mjs'
import { bestFixedCap } from './fixed-cap.mjs'
import { measureCapacity, runServer } from './server-run.mjs'

const serverCell = new URL('./server/server-cell.mjs', import.meta.url)

/**
 * Plays a scenario with each contender in each round; the number of a round is the seed of its load. Returns the runs
 * of each contender, and the scenario with what was measured or found before. `lanes`: runs side by side.
 */
export async function play(given, { names, rounds, lanes, giveUpMs, isShort, progress }) {
  const opened = await given.open?.()
  const scenario = { ...(await prepared(given, isShort)), giveUpMs: giveUpMs ?? given.giveUpMs }
  const settings = { ...scenario.settings, ...opened?.settings }
  const runs = Object.fromEntries(names.map((name) => [name, []]))
  // the contenders of a round run at nearly the same time
  const left = Array.from({ length: rounds }, (_, round) => names.map((name) => ({ name, seed: round + 1 }))).flat()
  const lane = async () => {
    for (let next = left.shift(); next !== undefined; next = left.shift()) {
      const { name, seed } = next
      progress(`overload: ${scenario.name}, ${name}, seed ${seed}`)
      const options = { contender: name, service: scenario.service, settings }
      runs[name][seed - 1] = await runServer(scenario.cell ?? serverCell, options, scenario, seed)
    }
  }
  try {
    await Promise.all(Array.from({ length: lanes }, lane))
  } finally {
    await opened?.close()
  }
  const curves = names.map((name) => curveOf(name, runs[name][0]))
  return { scenario: { ...scenario, settings, notes: opened?.notes }, runs, curves }
}

/** Measures the capacity of CPU work, and finds the best fixed cap. */
async function prepared(scenario, isShort) {
  const ready = scenario.service?.cpuMs === undefined ? scenario : await withCapacity(scenario, isShort)
  if (!ready.contenders.includes('fixed cap')) return ready
  const { placesOfStreams = 0, sources } = ready
  const best = await bestFixedCap({ ...ready, sources: sources.filter(({ stayMs }) => stayMs === undefined) })
  return { ...ready, settings: { ...ready.settings, fixedCap: best + placesOfStreams } }
}

async function withCapacity(scenario, isShort) {
  const options = { contender: 'no limiter', service: scenario.service, settings: {} }
  const perSecond = await measureCapacity(serverCell, options, { callers: 4, ms: isShort ? 200 : 4_000 })
  const sources = scenario.sources.map(({ rateOf, ...source }) => ({ ...source, rate: rateOf(perSecond) }))
  return { ...scenario, sources, service: { ...scenario.service, measuredPerSecond: perSecond } }
}
