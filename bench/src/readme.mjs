import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { describeMachine, describeVersions } from './machine.mjs'
import { summary } from './summary.mjs'
import { formatTable } from './table.mjs'

const readme = new URL('../README.md', import.meta.url)
// the last run of each benchmark, so that each can be repeated without the others
const resultFile = (bench) => new URL(`../results/${bench}.json`, import.meta.url)

const head = `# Sluice benchmarks

Written by \`npm run bench -- --write\` (one bench again: \`npm run bench -- decisions --write\`; all options: \`--help\`). Do not edit.

`

const foot = `
## How it is measured

- One child process per contender, load and round; the order is shuffled within a round, from a seed.
- A ratio or a difference is taken within its round, and the table shows the median over the rounds (error figures: the worst).
- CPU time is that of the whole process, threads of the garbage collector included.
- Read ratios, not nanoseconds: the machine may be shared, and differences under 15 % mean nothing.
- Contenders whose middleware awaits are awaited one by one; each must deny past its limit before it is timed.
- "1M" and Zipf (s = 1) are measured after every key was inserted once. @nestjs/throttler keeps a timestamp per unit, so its limit is 100; all others have 1e9.
- "Handed in" means that the caller read the clock already, once for 1,000 decisions here; an adapter reads it once a request.
- HTTP is a closed loop at saturation and sees one key; read CPU per request, latencies follow from the throughput. The servers of one framework stand side by side, each in a process of its own that is made anew every round, and take turns of a second; a difference is taken within its turn.
- Sketches: what the loop and the making of a key cost is taken off every contender; errors are in millionths of all events, so that streams of different length compare, and peers that take tens of microseconds get the shorter ones. Each row has its time beside its error: either alone says nothing.
- Redis is a closed loop at 1 and at 64 callers in one process, and 64 callers that all wait for one batch do not overlap with the server: decisions a second then say less than CPU per decision.
- Targets are those of the design, set on another machine: for HTTP the share of the bare server is what carries over.

## Where a target is missed, and why

- Decisions against the \`Map\`: it reads its own clock, which cost about 110 ns where the targets were set and costs 36 here, so that its hot key takes 38 ns instead of 138. A decision cannot come near 1.2 of that: the keyed hash of a 15-character key alone takes 26 ns (a \`Map\` finds an unkeyed one stored in the string), writing down for the eviction how used a key is about 14, the object of the answer about 8. Small tables (hot, 10k) pay that in full; at a million keys, where memory is waited for, it is less than the \`Map\` takes.
- With a clock of its own the default adds \`performance.now()\`, about 50 ns: monotonic time is what keeps a step of the wall clock from changing a limit. That loses to the fastest store, which forgets, and to one that reads \`Date.now()\`, on small tables, and wins on large ones.
- HTTP, Express: of what \`rateLimit\` adds, about 4 to 5 µs are Express's own layer for a middleware, 2 the two header lines, 2 \`req.ip\`, 3 the lifecycle of the request, 1.5 key, decision and gate. The hand-written floor has none of the lifecycle. Express gives every request and response another prototype, after which all that is read of them, and all that is added to them, is dear: what adds 20 to 30 µs there adds 2 to 3 on Koa and on Fastify, less than the best-known limiters of both.
- HTTP, the share of the bare server: a bare Koa or Fastify takes a third here of what it took where the targets were set, and most of that is Node's HTTP and the kernel. The same microseconds are a share three times as large.
- HTTP, a cap: \`inflightLimit\` adds on-finished and two listeners, so that no end of a response is missed. on-finished makes four listeners and an async resource: with one listener of our own in its place the 27 to 35 µs that a cap adds on Express were 10 to 12 fewer. It stays until the variant without it has stood as long. On Koa, which listens with it anyway, a cap adds 2 µs; on Fastify, which does not, 6.
- HTTP, a denial: here the handler whose place it takes does next to nothing, and a denial says more than its 200: three more header lines, and a body of 143 bytes instead of 5. On Express, whose \`res.send\` makes an ETag, it is cheaper nevertheless; on Koa and Fastify it costs 1 to 5 µs more, as with the best-known limiters of both. An application that does anything at all saves more than that.
- HTTP, Nest: an interceptor, where there is any, costs 8 to 16 µs in Nest itself (the rows of those that do nothing), and the module brings one with it for caps, whether or not one is said. Nest refuses an \`APP_INTERCEPTOR\` that may turn out not to be needed. What is left above that row, 18 µs, is what \`@sluice/express\` adds as well: Express's objects, two headers, the lifecycle. @nestjs/throttler has a guard alone, and no lifecycle of a request. Its window is 10 ms here: it walks over a timestamp of every unit in its window, and at a minute each request would take longer than the one before.
- Redis, one decision at a time: the script of a lone take keeps Redis busy for 6.5 µs where \`INCR\` and \`PTTL\` take 2.2: it reads the server's time (1.0), sets up its algorithm (0.9), reads the cells (0.8), decides (0.6), writes them with their expiry (1.3) and prints an answer (0.9). That is what a deadline that the server keeps, a state that no clock of ours touches, and an exact \`Retry-After\` cost. A refusal after the deadline and half of a decision are not to be had for less.
- Redis, three policies: each is a count of its own, which others may share, and so a \`GET\` and a \`SET\` of its own. Three in one call take 1.4 times one, where three calls of a peer take as long as one of them and three times its CPU. Under load the round trip is no longer what costs, and three policies are three times the work. One value for all policies of a key would be cheaper, and would tie them together for ever.
- Redis, breaker open: the mirror is the memory backend behind two more calls, one of the breaker and one of the step that marks what Redis was not told.
- Synced, 10k keys: at a million decisions a second each key is taken a hundred times a second, and each take finds what waits of it: an object and its list, which at 10,000 keys fill the caches of the core. One key stays in the nearest of them, and a million keys miss them anyway. What is asked of a process that serves requests is a hundredth of that rate.
- Synced, floods: the longest turns are collections of the young generation, 8 to 12 ms each, while 200,000 keys wait; a tick takes 7 ms, and calls are made in turns of 500 keys.
- Counters, forwarded: an increment that a node sends on to its owner has a token and is in PostgreSQL before it is answered, so that it counts once where the owner is gone and the next one is asked. Two hops take 1 ms of it here, where five processes share two cores. A client that knows the nodes asks the owner at once.
- Insight, Express: in a CPU profile an insight takes 3 % of a request, two thirds of it for the listener at the end of the response, by which the handlers of a route are timed, and for what that writes down. Express exchanges the prototype of the response, after which each look-up on it is dear. The difference of two servers is larger and less certain, as its "±" says.
- Sketches, count-min against its floor: the floor is a closure whose cells, width and hash the compiler knows as constants, and its cells may overflow. A sketch finds them in itself at every call, stops each cell at its edge and checks the amount: 3 to 5 ns, whatever the key. At 15 characters, where the hash takes about 20, that is 1.15 to 1.25 of the floor; at 40 characters 1.05 to 1.1.
- Sketches, integers: their hash takes 5 ns, so that the same few ns are as much as all of the floor; and the floor is compiled into the loop as a whole, for which a sketch with its checks is often too long.
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
