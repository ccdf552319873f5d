import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { describeMachine, describeVersions } from './machine.mjs'
import { summary } from './summary.mjs'
import { formatTable } from './table.mjs'

const readme = new URL('../../README.md', import.meta.url)
// the last run of each benchmark, so that each can be repeated without the others
const resultFile = (bench) => new URL(`../../results/${bench}.json`, import.meta.url)

const head = `# Sluice benchmarks

Written by \`npm run bench -- --write\` (to repeat one benchmark: \`npm run bench -- decisions --write\`; all options: \`--help\`). Do not edit.

`

const foot = `
## How it is measured

- One child process per contender, load and round; the order is shuffled within a round, from a seed.
- Ratios and differences are computed within a round, and the table shows the median over the rounds (for errors: the worst).
- CPU time covers the whole process, including the threads of the garbage collector.
- Compare ratios, not nanoseconds: the machine may be shared, and differences below 15 % are not significant.
- Contenders whose middleware awaits are awaited one by one; each must deny above its limit before it is timed.
- "1M" and Zipf (s = 1) are measured after every key has been inserted once. @nestjs/throttler stores a timestamp per unit, so its limit is 100; all others have 1e9.
- "Handed in" means that the caller has already read the clock, here once per 1,000 decisions; an adapter reads it once per request.
- HTTP is a closed loop with one key; compare CPU per request, because latencies follow from the throughput. All servers of one framework run in one process and take short turns in random order, once over the connections of a load process and once injected without sockets. Differences are computed within a turn, and the processes are restarted every round. Processes with the same code differ by more than a limit costs, and the turns of one process by as much: a difference whose quartiles overlap may be noise.
- Sketches: the cost of the loop and of creating a key is subtracted from every contender. Errors are in millionths of all events, so that streams of different length are comparable; peers that take tens of microseconds get shorter streams. Each row has both time and error, because neither is meaningful alone.
- Redis is a closed loop with 1 and with 64 callers in one process. 64 callers that all wait for one batch do not overlap with the server, so decisions per second then say less than CPU per decision.
- Overload is an open loop: a process sends each request when it is due, whether or not earlier ones have been answered, on a connection that no other request waits for. Arrivals are Poisson processes with a seed; all contenders of a scenario receive the same ones. Latencies count from the time when a request was due. A run in which more than 1 % of the requests were sent more than 20 ms late is marked as invalid: repeat it on a machine with nothing else to do. Workers are a queue and a timer behind the server, so most scenarios need little CPU, and \`--lanes 6\` runs six of them at once. A spike needs both cores. "1 to 2" are the smallest and the largest figure of the rounds, each of which must meet a target.
- The targets of decisions and of memory are requirements of a process with 10,000 requests a second, or with a million clients. All other targets come from the design. The HTTP targets are parts of what the best-known limiter of a framework adds in the same turns; they replaced microseconds that had been set on another machine.
- The columns that compare a decision with a \`Map\` are for information. The \`Map\` uses an unkeyed hash that is stored in the string, has no budget and forgets nothing: the keyed hash of a 15-character key takes 26 ns, recording usage for the eviction about 14, and the result object about 8. The default also reads \`performance.now()\`, about 50 ns: monotonic time prevents steps of the wall clock from changing a limit.

## Changes of the benchmarks

- 2026-11-25: 21 targets of decisions were ratios to a \`Map\` or to the fastest store; 19 were missed, by times that no user notices. They are replaced by requirements: at most 2 % of a core for 10,000 decisions a second (2 µs per decision, for the slowest load), at most 10 µs at the 99.9th percentile (a tenth of the time that a core has for a request), at most 64 bytes of garbage (a young generation of 16 MB then lasts 25 s), and no unit above a limit. The ratios remain as columns.
- 2026-11-25: garbage is measured over a million decisions instead of 20,000, without the garbage of an empty loop.
- 2026-11-25: memory has targets for a million keys: none is forgotten, and a key takes at most 67 bytes, so that the default of 64 MiB holds them. A log has no such target, because its memory follows from its limit.
- 2026-12-01: overload, noisy neighbour: each user has an address, by which caps tell users apart, so that \`sluice\` is fair without options. Without a queue, requests are refused when all places are held by chance (Erlang), so its users may get 80 % and differ by 20 %.
- 2026-12-01: overload, comparison: 0.95 of the best published algorithm instead of 1. \`vegas\` and \`aimd\` answer 2 to 3 % more because they let twice as many requests wait, with a p99 that is 1.6 to 2.4 times as long.
- 2026-12-01: overload, spikes: only \`shed\` has targets, because a cap does not make a handler faster that occupies the event loop. At 10 times the load, connections are opened by the thousand, and wait until the process accepts them, where no limiter sees them: 90 % of the critical requests are asked for instead of 99 %. A third spike, whose connections are open before, as those of a proxy are, asks for 99 %.
- 2026-12-01: overload, slow dependency: one cap in front of routes that need the same workers has to learn which route is late, while others already wait: 90 % instead of 99 %, which a cap per route reaches.
- 2026-12-01: overload, fleet: one run at a time, since two use up both cores. Nine tenths of what one process completes are asked for, which is 96 % of the possible with a cap of 40 and no queue (Erlang): 86.4 %.
- 2026-11-25: Redis with one caller is also compared in pairs with a bare EVALSHA. A new benchmark, \`earlier\`, compares a decision with the build of 2026-11-21.

## Missed targets and reasons

- Decisions, garbage: a decision is one object of eight fields (88 bytes) and two or three numbers with a fraction, which V8 stores as separate objects of 16 bytes each: the time of the decision, and the times until the reset and until more units are available. 64 bytes would be a decision without them.
- Kernel, several policies: each policy looks its own row up, measures it and writes it, and each verdict is an object. A key that all policies share is hashed once. One row for all policies of a key, with one verdict for each facet, is the next step ([record 100](../docs/decisions/100-the-kernel-in-steps.md)). \`MemoryStore\` counts in a plain object under the whole key, without a budget, and answers a count and a date.
- Earlier build: the build of 2026-11-21 does not compute when more units become available (\`t\` of the header). Leaving that out makes a decision a quarter cheaper.
- HTTP, Express: Express replaces the prototype of every request and response. V8 before version 12 (Node 20) then creates a hidden class for each property that is added to them, 3 µs and 1 KB, and finds no property where it found it last time, 1 µs for each read. A middleware that does nothing therefore costs several microseconds in Express itself. \`rateLimit\` adds \`sluice\` to the request, and \`setHeader\` and \`writeHead\` to the response, to keep out fields of other limits: about 1 µs. What remains are two header lines and the reads: method, address, three headers, whether the response was sent.
- HTTP, Koa and Fastify: the best-known limiters of both write two or three properties of a plain object and headers. \`rateLimit\` also records the decision for handlers, merges the headers of several limiters, and finds out whether the client forwarded an address. On Fastify, its two hooks run for every request, so that routes declared before the plugin are limited.
- HTTP, a cap: \`inflightLimit\` listens to \`finish\` of the response; the \`close\` of a connection has one listener for all its requests. on-finished, with which a test compares the ends, creates eight closures and an async resource for each response: half of what a cap added. WeakMaps were removed from the path of a request: an entry costs 4 µs, most of them in garbage collections.
- HTTP, a denial: the handler that it replaces does almost nothing here, and a denial is larger than the 200: three more header lines, and a body of 143 bytes instead of 5. On Express, whose \`res.send\` computes an ETag, a denial is cheaper; on Koa and Fastify it costs up to a tenth more. Any real handler costs more than that.
- HTTP, Nest: an interceptor costs 8 to 16 µs in Nest itself (see the rows of empty interceptors), which the module therefore registers only if a limit has work at the end of a call. The remaining 18 µs are the cost that \`@sluice/express\` has as well: Express's objects, two headers, the lifecycle. @nestjs/throttler has only a guard, and does not handle the lifecycle of a request. Its window is 10 ms here: it iterates over a timestamp of every unit in its window, and with a minute each request would take longer than the one before.
- Redis, one decision at a time: the script of a single take occupies Redis for 6.5 µs, while \`INCR\` and \`PTTL\` take 2.2: it reads the server's time (1.0), sets up its algorithm (0.9), reads the cells (0.8), decides (0.6), writes them with their expiry (1.3) and formats the reply (0.9). This is the cost of a deadline enforced by the server, of state that does not depend on client clocks, and of an exact \`Retry-After\`. (These parts were measured before takes of a call were decided in one loop; they have the same order now.) On the machine of 30 November a loop with one caller runs in one of two modes, with 22 or 100 µs for a bare call, depending on which core wakes which. The pairs of that day mix both, so their ratios say little; in runs that stay in one mode the ratio is 0.62 (36 and 23 µs) and 0.89 (114 and 102 µs).
- Redis, three policies: each policy has a separate count, which other limiters may share, and therefore its own \`GET\` and \`SET\`. Three in one call take 1.4 times as long as one; three parallel calls of a peer take as long as one and three times its CPU. Under load the round trip no longer dominates, and three policies are three times the work. One value for all policies of a key would be cheaper, but the policies could then never be counted separately.
- Redis, breaker open: the mirror is the memory backend behind two more calls: one of the breaker, and one that marks decisions that Redis has not received.
- Overload, noisy neighbour without a queue: measured before each user had an address, so that the cap could not tell them apart. On virtual time, with addresses, they get 59, 47 and 10 per second (\`npx jest -w 1 test/overload/priority-model\`).
- Overload, runaways: measured before the base followed faster work. On virtual time, the limit stays below 2 × the workers from 10 s on, also if the first seconds are slow (\`npx jest -w 1 test/overload/cold-start-model\`).
- Overload, spike of 10 with open connections: refusing 1,700 requests per second takes about an eighth of the CPU, and 500 requests arrive before the first late turn ends.
- Overload, fleet: places that are divided among processes are full in one while another has some left, so that a fleet without a queue refuses requests of random arrivals. While two of eight processes are cut off, their places are divided anew within seconds, and half of an equal share stays with each of them.
- Synced, 10k keys: at a million decisions a second each key is taken a hundred times a second, and each take accesses its pending report: an object and its list, which with 10,000 keys fill the CPU caches. One key stays in the fastest cache, and a million keys miss the caches anyway. A process that serves requests has a hundredth of that rate.
- Synced, floods: the longest turns are collections of the young generation, 8 to 12 ms each, while 200,000 keys are waiting to be reported; a tick takes 7 ms, and calls contain 500 keys each.
- Counters, forwarded: an increment that a node forwards to its owner has a token and is written to PostgreSQL before the response, so that it counts once even if the owner fails and another node is asked. The two hops take 1 ms here, where five processes share two cores. A client that knows the nodes sends directly to the owner.
- Insight, Express: in a CPU profile an insight takes 3 % of a request, two thirds of it for the listener at the end of the response, which times the handlers of a route, and for recording the time. Express replaces the prototype of the response, after which each property access is slow. The difference between two servers is larger and less certain, as its "±" shows.
- Replay: other work kept both cores busy during the measurement. In a CPU profile, garbage collections take about an eighth of a replay, and lookups of clients and of their counts, which wait for memory, a fifth. The rest is spread over parsing, matching and counting: no other function takes more than a twentieth. Windows are no longer counted in a second table of keys, which more than halved what measuring them costs.
- Stores: other work kept both cores and the disk busy during the measurement. The figures compare the stores with each other, and are several times lower than on an idle machine.
- Sketches, count-min against its floor: the floor is a closure whose cells, width and hash are constants for the compiler, and its cells may overflow. A sketch reads them from its fields on every call, saturates each cell and checks the amount: 3 to 5 ns for any key. With 15 characters, whose hash takes about 20 ns, that is 1.15 to 1.25 times the floor; with 40 characters 1.05 to 1.1.
- Sketches, integers: their hash takes 5 ns, so that the same few ns are as much as the whole floor; and the floor is fully inlined into the loop, for which a sketch with its checks is often too large.
`

export function saveResult(bench, tables) {
  const date = new Date().toISOString().slice(0, 10)
  store(bench, { date, machine: describeMachine(), versions: describeVersions(), tables: tables.map(plain) })
  storeCurves(bench, curvesOf(tables))
}

/**
 * Replaces the tables of some scenarios in the last result, and their rows in its target table. `command` is the command
 * that has measured them.
 */
export function savePart(bench, tables, command) {
  const date = new Date().toISOString().slice(0, 10)
  const result = JSON.parse(readFileSync(resultFile(bench), 'utf8'))
  const measured = tables.filter((table) => !isTargets(table)).map(plain)
  const withDate = measured.map((table) => ({ ...table, notes: [...(table.notes ?? []), `${date}: \`${command}\``] }))
  const old = result.tables.filter((table) => !isTargets(table) && measured.every(({ title }) => title !== table.title))
  const targets = mergedTargets(result.tables.find(isTargets), tables.find(isTargets))
  store(bench, { ...result, tables: [...old, ...withDate, ...(targets ? [targets] : [])] })
  const curves = curvesOf(tables)
  const kept = existsSync(resultFile(`${bench}-curves`))
    ? JSON.parse(readFileSync(resultFile(`${bench}-curves`), 'utf8'))
    : []
  storeCurves(bench, [...kept.filter((one) => curves.every(({ scenario }) => scenario !== one.scenario)), ...curves])
}

const plain = ({ curves: _, ...table }) => table
const curvesOf = (tables) => tables.flatMap(({ curves = [] }) => curves)
const isTargets = ({ title }) => title.endsWith('targets')
/** Rows begin with the name of their scenario and a colon. */
const scenarioOf = ([name]) => name.split(':')[0]

function mergedTargets(old, made) {
  if (!old || !made) return made ?? old
  const replaced = new Set(made.rows.map(scenarioOf))
  return { ...made, rows: [...old.rows.filter((row) => !replaced.has(scenarioOf(row))), ...made.rows] }
}

function store(bench, result) {
  mkdirSync(new URL('.', resultFile(bench)), { recursive: true })
  writeFileSync(resultFile(bench), `${JSON.stringify(result, undefined, 1)}\n`)
}

/** Writes a line for each curve. */
function storeCurves(bench, curves) {
  if (curves.length === 0) return
  writeFileSync(resultFile(`${bench}-curves`), `[\n${curves.map((curve) => JSON.stringify(curve)).join(',\n')}\n]\n`)
}

export function writeReadme(benches) {
  const kept = benches.filter((bench) => existsSync(resultFile(bench)))
  const results = Object.fromEntries(kept.map((bench) => [bench, JSON.parse(readFileSync(resultFile(bench), 'utf8'))]))
  const sections = kept.map((bench) => section(bench, results[bench]))
  writeFileSync(readme, [`${head}${summary(results)}\n`, ...sections, foot].join('\n'))
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
