import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { describeMachine, describeVersions } from './machine.mjs'
import { summary } from './summary.mjs'
import { formatTable } from './table.mjs'

const readme = new URL('../README.md', import.meta.url)
// the last run of each benchmark, so that each can be repeated without the others
const resultFile = (bench) => new URL(`../results/${bench}.json`, import.meta.url)

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
- HTTP is a closed loop at saturation with one key; compare CPU per request, because latencies follow from the throughput. The servers of one framework run in parallel, each in a separate process that is restarted every round, and take turns of one second; differences are computed within a turn.
- Sketches: the cost of the loop and of creating a key is subtracted from every contender. Errors are in millionths of all events, so that streams of different length are comparable; peers that take tens of microseconds get shorter streams. Each row has both time and error, because neither is meaningful alone.
- Redis is a closed loop with 1 and with 64 callers in one process. 64 callers that all wait for one batch do not overlap with the server, so decisions per second then say less than CPU per decision.
- The targets come from the design and were set on another machine; for HTTP only the share of the bare server carries over.

## Missed targets and reasons

- Decisions against the \`Map\`: the \`Map\` reads its own clock, which took about 110 ns on the machine of the targets and takes 36 here, so that its hot key takes 38 ns instead of 138. A decision cannot reach 1.2 times that: the keyed hash of a 15-character key alone takes 26 ns (a \`Map\` uses an unkeyed hash stored in the string), recording usage for the eviction about 14, and the result object about 8. Small tables (hot, 10k) pay this in full; with a million keys, where memory access dominates, a decision takes less than the \`Map\`.
- With its own clock, the default adds \`performance.now()\`, about 50 ns: monotonic time prevents steps of the wall clock from changing a limit. On small tables this is slower than the fastest store, which evicts keys that are in use, and than a store that reads \`Date.now()\`; on large tables it is faster.
- HTTP, Express: of the cost of \`rateLimit\`, about 4 to 5 µs are Express's own layer for a middleware, 2 the two header lines, 2 \`req.ip\`, 3 the lifecycle of the request, and 1.5 key, decision and gate. The hand-written floor does not handle the lifecycle. Express replaces the prototype of every request and response, after which reading and adding properties is slow: code that adds 20 to 30 µs there adds 2 to 3 on Koa and Fastify, less than the best-known limiters of both.
- HTTP, the share of the bare server: a bare Koa or Fastify server takes a third of the time that it took on the machine of the targets, and most of that is Node's HTTP and the kernel. The same microseconds are therefore a share three times as large.
- HTTP, a cap: \`inflightLimit\` adds on-finished and two listeners, so that no end of a response is missed. on-finished creates four listeners and an async resource: with a single listener instead, the 27 to 35 µs that a cap adds on Express were 10 to 12 less. on-finished stays until the variant without it is equally proven. On Koa, which uses on-finished itself, a cap adds 2 µs; on Fastify, which does not, 6.
- HTTP, a denial: the handler that it replaces does almost nothing here, and a denial is larger than the 200: three more header lines, and a body of 143 bytes instead of 5. On Express, whose \`res.send\` computes an ETag, a denial is still cheaper; on Koa and Fastify it costs 1 to 5 µs more, as with the best-known limiters of both. Any real handler costs more than that.
- HTTP, Nest: an interceptor costs 8 to 16 µs in Nest itself (see the rows of empty interceptors), and the module registers one for caps even if no cap is configured, because Nest does not support a conditional \`APP_INTERCEPTOR\`. The remaining 18 µs are the cost that \`@sluice/express\` has as well: Express's objects, two headers, the lifecycle. @nestjs/throttler has only a guard, and does not handle the lifecycle of a request. Its window is 10 ms here: it iterates over a timestamp of every unit in its window, and with a minute each request would take longer than the one before.
- Redis, one decision at a time: the script of a single take occupies Redis for 6.5 µs, while \`INCR\` and \`PTTL\` take 2.2: it reads the server's time (1.0), sets up its algorithm (0.9), reads the cells (0.8), decides (0.6), writes them with their expiry (1.3) and formats the reply (0.9). This is the cost of a deadline enforced by the server, of state that does not depend on client clocks, and of an exact \`Retry-After\`.
- Redis, three policies: each policy has a separate count, which other limiters may share, and therefore its own \`GET\` and \`SET\`. Three in one call take 1.4 times as long as one; three parallel calls of a peer take as long as one and three times its CPU. Under load the round trip no longer dominates, and three policies are three times the work. One value for all policies of a key would be cheaper, but the policies could then never be counted separately.
- Redis, breaker open: the mirror is the memory backend behind two more calls: one of the breaker, and one that marks decisions that Redis has not received.
- Synced, 10k keys: at a million decisions a second each key is taken a hundred times a second, and each take accesses its pending report: an object and its list, which with 10,000 keys fill the CPU caches. One key stays in the fastest cache, and a million keys miss the caches anyway. A process that serves requests has a hundredth of that rate.
- Synced, floods: the longest turns are collections of the young generation, 8 to 12 ms each, while 200,000 keys are waiting to be reported; a tick takes 7 ms, and calls contain 500 keys each.
- Counters, forwarded: an increment that a node forwards to its owner has a token and is written to PostgreSQL before the response, so that it counts once even if the owner fails and another node is asked. The two hops take 1 ms here, where five processes share two cores. A client that knows the nodes sends directly to the owner.
- Insight, Express: in a CPU profile an insight takes 3 % of a request, two thirds of it for the listener at the end of the response, which times the handlers of a route, and for recording the time. Express replaces the prototype of the response, after which each property access is slow. The difference between two servers is larger and less certain, as its "±" shows.
- Sketches, count-min against its floor: the floor is a closure whose cells, width and hash are constants for the compiler, and its cells may overflow. A sketch reads them from its fields on every call, saturates each cell and checks the amount: 3 to 5 ns for any key. With 15 characters, whose hash takes about 20 ns, that is 1.15 to 1.25 times the floor; with 40 characters 1.05 to 1.1.
- Sketches, integers: their hash takes 5 ns, so that the same few ns are as much as the whole floor; and the floor is fully inlined into the loop, for which a sketch with its checks is often too large.
`

export function saveResult(bench, tables) {
  const date = new Date().toISOString().slice(0, 10)
  const result = { date, machine: describeMachine(), versions: describeVersions(), tables }
  mkdirSync(new URL('.', resultFile(bench)), { recursive: true })
  writeFileSync(resultFile(bench), `${JSON.stringify(result, undefined, 1)}\n`)
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
