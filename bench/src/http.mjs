import { once } from 'node:events'
import { runChild, startChild } from './child.mjs'
import { bare, httpContenders } from './http-contenders.mjs'
import { median } from './median.mjs'
import { seededRandom, shuffled } from './random.mjs'
import { targetColumns, targetRow } from './target.mjs'

const httpLoad = new URL('./http-load.mjs', import.meta.url)
const httpServer = new URL('./http-server.mjs', import.meta.url)
const addedAimUs = 18
// DESIGN's 18 µs stand beside a bare server of 167 µs: on another machine only the share can be compared
const addedAimPercent = (addedAimUs / 167) * 100
const connections = 32
const warmupSeconds = 2

export async function run({ smoke = false, rounds = 3, only = '', seconds = 3, progress = () => {} } = {}) {
  const chosen = httpContenders.filter(({ name }) => name.includes(only) || name === bare)
  const taken = []
  for (let round = 0; round < (smoke ? 1 : rounds); round++) {
    const results = {}
    const cells = shuffled(chosen, seededRandom(21 + round)).map((contender) => async () => {
      progress(`http, round ${round + 1}: ${contender.name}`)
      results[contender.name] = await measure(contender, { smoke, seconds })
    })
    // autocannon looks at the clock once a second: one after another, a smoke run would only wait
    if (smoke) await Promise.all(cells.map((cell) => cell()))
    else for (const cell of cells) await cell()
    taken.push(results)
  }
  const of = (name, read) => median(taken.map((results) => read(results[name], results[bare])))
  return [costTable(chosen, of), targetTable(chosen, of)]
}

async function measure(contender, { smoke, seconds }) {
  const server = startChild(httpServer, { name: contender.name })
  try {
    const url = `http://127.0.0.1:${await portOf(server)}/`
    if (smoke) await (await fetch(url)).text()
    else await runChild(httpLoad, { url, connections, seconds: warmupSeconds })
    const before = await cpuUs(server)
    const load = await runChild(httpLoad, { url, connections, ...(smoke ? { amount: 320 } : { seconds }) })
    const spentUs = (await cpuUs(server)) - before
    proveStatus(contender, load)
    return { cpuUs: spentUs / load.requests, perSecond: load.perSecond }
  } finally {
    server.kill()
  }
}

function portOf(server) {
  return new Promise((resolve, reject) => {
    server.once('message', ({ port }) => resolve(port))
    server.once('exit', (code) => reject(new Error(`http-server.mjs ended with ${code}`)))
  })
}

async function cpuUs(server) {
  server.send('cpu')
  const [answer] = await once(server, 'message')
  return answer.cpuUs
}

/** The warm-up spent the one unit of a denial's limit, so all that follows is denied. */
function proveStatus({ name, denial }, { passed, denied, failed, requests }) {
  const right = denial ? denied : passed
  if (requests === 0 || right !== requests || failed > 0) {
    throw new Error(`${name}: ${requests} requests, ${passed} passed, ${denied} denied, ${failed} failed`)
  }
}

function costTable(chosen, of) {
  return {
    title: 'Express 5: CPU per request',
    columns: ['server', 'CPU µs/request', 'added µs', 'added %', 'requests/s'],
    rows: chosen.map(({ name }) => [
      name,
      of(name, (own) => own.cpuUs),
      of(name, (own, base) => own.cpuUs - base.cpuUs),
      of(name, (own, base) => (own.cpuUs / base.cpuUs - 1) * 100),
      of(name, (own) => own.perSecond),
    ]),
    notes: [
      `autocannon, ${connections} connections, pipelining 1, from another process; NODE_ENV=production; one client address. "Added" is against the bare server of the same round.`,
      'Every response was checked: all 200 or all 429.',
    ],
  }
}

function targetTable(chosen, of) {
  const added = (name) => of(name, (own, base) => own.cpuUs - base.cpuUs)
  const addedPercent = (name) => of(name, (own, base) => (own.cpuUs / base.cpuUs - 1) * 100)
  const sluice = chosen.filter(({ role }) => role === 'sluice')
  const rows = sluice.flatMap(({ name, denial, of: allowed }) => {
    if (denial) return [targetRow(`${name}: added µs, against its 200`, added(name), added(allowed))]
    return [
      targetRow(`${name}: added µs`, added(name), addedAimUs),
      targetRow(`${name}: added % of bare`, addedPercent(name), addedAimPercent),
    ]
  })
  return { title: 'HTTP targets', columns: targetColumns, rows, notes: [] }
}
