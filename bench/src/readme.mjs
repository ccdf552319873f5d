import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { describeMachine, describeVersions } from './machine.mjs'
import { formatTable } from './table.mjs'

const readme = new URL('../README.md', import.meta.url)
// the last run of each bench, so that one can be repeated without the others
const resultFile = (bench) => new URL(`../results/${bench}.json`, import.meta.url)

const head = `# Sluice benchmarks

Written by \`npm run bench -- --write\` (one bench again: \`npm run bench -- decisions --write\`; all options: \`--help\`). Do not edit.

- One child process per contender, load and round; the order is shuffled within a round, from a seed.
- A ratio or a difference is taken within its round, and the table shows the median over the rounds (error figures: the worst).
- CPU time is that of the whole process, threads of the garbage collector included.
- Read ratios, not nanoseconds: the machine may be shared, and differences under 15 % mean nothing.
- Contenders whose middleware awaits are awaited one by one; each must deny past its limit before it is timed.
- "1M" and Zipf (s = 1) are measured after every key was inserted once. @nestjs/throttler keeps a timestamp per unit, so its limit is 100; all others have 1e9.
- "Handed in" means that the caller read the clock already, once for 1,000 decisions here; an adapter reads it once a request.
- HTTP is a closed loop at saturation and sees one key; read CPU per request, latencies follow from the throughput.
- Targets are those of the design, set on another machine: for HTTP the share of the bare server is what carries over.
`

export function saveResult(bench, tables) {
  const date = new Date().toISOString().slice(0, 10)
  const result = { date, machine: describeMachine(), versions: describeVersions(), tables }
  mkdirSync(new URL('.', resultFile(bench)), { recursive: true })
  writeFileSync(resultFile(bench), `${JSON.stringify(result, undefined, 1)}\n`)
}

export function writeReadme(benches) {
  const kept = benches.filter((bench) => existsSync(resultFile(bench)))
  const sections = kept.map((bench) => section(bench, JSON.parse(readFileSync(resultFile(bench), 'utf8'))))
  writeFileSync(readme, [head, ...sections].join('\n'))
}

function section(bench, { date, machine, versions, tables }) {
  const lead = [
    `## ${bench}`,
    '',
    `${date}: \`npm run bench -- ${bench} --write\``,
    '',
    `Machine: ${machine}.`,
    '',
    `Versions: ${versions}.`,
    '',
  ]
  return [...lead, ...tables.map((table) => formatTable(table))].join('\n')
}
