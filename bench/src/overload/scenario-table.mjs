import { boundRow } from '../run/target.mjs'
import { published, shedding, sluice } from './contender-names.mjs'

/** Makes the table of a played scenario. A cell shows the smallest and the largest figure of the rounds. */
export function tableOf({ scenario, runs, curves }, lanes) {
  const { columns } = scenario.verdict
  const names = Object.keys(runs)
  const others = [
    ['refused %', refusedPercent],
    ['CPU %', ({ cpuPercent }) => cpuPercent],
    ['sent late %', ({ lateShare }) => lateShare * 100],
  ]
  return {
    title: scenario.title,
    columns: ['contender', ...[...columns, ...others].map(([title]) => title)],
    rows: names.map((name) => [
      shownName(name, runs[name]),
      ...[...columns, ...others].map(([, figure]) => rangeOf(runs[name].map(figure))),
    ]),
    notes: [notesOf(scenario, runs[names[0]].length, lanes)],
    curves,
  }
}

/** Returns the rows of the target table: a target is met if each round met it, so it shows the worst figure. */
export function targetsOf({ scenario, runs }) {
  const { name: scenarioName, verdict, judged = [shedding, ...sluice] } = scenario
  const names = Object.keys(runs)
  const rivals = names.filter((name) => published.includes(name))
  return names
    .filter((name) => judged.includes(name))
    .flatMap((name) =>
      verdict.targets.map(([what, figure, given]) => {
        const bound = typeof given === 'function' ? given(name) : given
        const figures = runs[name].map((run, round) =>
          figure(
            run,
            rivals.map((rival) => runs[rival][round]),
          ),
        )
        const measured = bound.atLeast === undefined ? Math.max(...figures) : Math.min(...figures)
        const needed = verdict.needsRivals ? [name, ...rivals] : [name]
        const row = boundRow(`${scenarioName}: ${name}: ${what}`, measured, bound)
        // a run whose load was sent late proves nothing
        return needed.every((one) => runs[one].every(({ isValid }) => isValid)) ? row : [...row.slice(0, -1), 'invalid']
      }),
    )
}

function shownName(name, rounds) {
  return rounds.every(({ isValid }) => isValid) ? name : `${name} (invalid: sent late)`
}

function rangeOf(figures) {
  return [Math.min(...figures), Math.max(...figures)]
}

function notesOf({ durationMs, settings, service, sources, notes }, rounds, lanes) {
  const capacity = service?.measuredPerSecond
  return [
    `${durationMs / 1_000} s, ${rounds} rounds with seeds from 1.`,
    settings?.fixedCap !== undefined && !notes && `The fixed cap is ${settings.fixedCap}, the best on virtual time.`,
    capacity !== undefined && `Capacity, measured before: ${capacity.toFixed(0)} per second.`,
    sources.length > 1 && `Sources: ${sources.map(({ name }) => name).join(', ')}.`,
    notes,
    lanes > 1 && `${lanes} runs side by side.`,
  ]
    .filter(Boolean)
    .join(' ')
}

function refusedPercent({ record }) {
  return (100 * record.outcome.filter((outcome) => outcome === 2).length) / Math.max(1, record.outcome.length)
}
