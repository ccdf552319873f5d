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

Where a target is missed, and why:

- Decisions against the \`Map\`: it reads its own clock, which cost about 110 ns where the targets were set and costs 36 here, so that its hot key takes 38 ns instead of 138. A decision cannot come near 1.2 of that: the keyed hash of a 15-character key alone takes 26 ns (a \`Map\` finds an unkeyed one stored in the string), writing down for the eviction how used a key is about 14, the object of the answer about 8. Small tables (hot, 10k) pay that in full; at a million keys, where memory is waited for, it is less than the \`Map\` takes.
- With a clock of its own the default adds \`performance.now()\`, about 50 ns: monotonic time is what keeps a step of the wall clock from changing a limit. That loses to the fastest store, which forgets, and to one that reads \`Date.now()\`, on small tables, and wins on large ones.
- HTTP: of what \`rateLimit\` adds, about 4 to 5 µs are Express's own layer for a middleware, 2 the two header lines, 2 \`req.ip\`, 3 the lifecycle of the request, 1.5 key, decision and gate. The hand-written floor has none of the lifecycle. \`inflightLimit\` adds on-finished and two listeners, so that no end of a response is missed.
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
