// Runs the long form of all rows, prints them, and writes them to docs/reliability-measurements.md.

import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { root } from '../../repository.ts'
import { counters } from '../counters/counter-rows.ts'
import { Fleet } from '../fleet.ts'
import { clusters, movedSlots } from '../rows/clusters.ts'
import { crashes } from '../rows/crashes.ts'
import { errors } from '../rows/errors.ts'
import { failovers } from '../rows/failovers.ts'
import { paths } from '../rows/paths.ts'
import { processes } from '../rows/processes.ts'
import { stalls } from '../rows/stalls.ts'
import { synced } from '../rows/synced.ts'
import { storeGroups } from '../stores/store-groups.ts'
import { findingsOf } from './attempts.ts'
import type { Findings } from './findings.ts'
import type { Group, Row } from './row.ts'

const PAGE = join(root, 'docs/reliability-measurements.md')
const [BEGIN, END] = ['<!-- faults: written by npm run test:faults -->', '<!-- /faults -->']
const HEAD = ['| Fault | Measured values (bounds) | Passed |', '| --- | --- | --- |']

/** Returns how many rows missed their guarantees. */
export async function report(): Promise<number> {
  const lines = new Map<string, string[]>()
  let misses = 0
  const group = async <Bench>({ name, start, stop, rows }: Group<Bench>): Promise<void> => {
    const bench = await start()
    console.log(`\n== ${name}`)
    for (const row of rows) {
      const findings = await findingsOf(row, bench, 'long')
      misses += findings.misses.length > 0 ? 1 : 0
      const line = lineOf(row, findings)
      lines.set(row.id, [...(lines.get(row.id) ?? []), line])
      console.log(row.id, line)
    }
    await stop(bench)
  }
  await group(stalls)
  await group(paths)
  await group(crashes)
  await group(errors)
  await group(failovers)
  await group(clusters)
  await group(movedSlots)
  await group(processes)
  const fleet = Fleet.start()
  for (const stores of storeGroups(() => fleet)) await group(stores)
  await fleet.stop()
  await group(synced)
  await group(counters)
  const sections = sectionsOf(lines)
  console.log(`\n${sections}`)
  write(sections)
  return misses
}

/** A section for each row number, so that pages can link to it. */
function sectionsOf(lines: ReadonlyMap<string, readonly string[]>): string {
  const ids = [...lines.keys()].sort((one, other) => numberOf(one) - numberOf(other))
  return ids.map((id) => [`### ${id}`, '', ...HEAD, ...(lines.get(id) as string[])].join('\n')).join('\n\n')
}

function lineOf({ fault }: Row<never>, { lines, misses }: Findings): string {
  const cells = [fault, lines.join('; '), misses.length === 0 ? 'yes' : '**no**']
  return `| ${cells.map((cell) => cell.replaceAll('|', '\\|').replaceAll('\n', ' ')).join(' | ')} |`
}

function numberOf(id: string): number {
  return Number(id.slice(1))
}

function write(rows: string): void {
  const page = readFileSync(PAGE, 'utf8')
  const [from, to] = [page.indexOf(BEGIN), page.indexOf(END)]
  if (from < 0 || to < from) throw new Error(`${PAGE} has no place for the rows: ${BEGIN}`)
  writeFileSync(PAGE, `${page.slice(0, from + BEGIN.length)}\n\n${rows}\n\n${page.slice(to)}`)
}
