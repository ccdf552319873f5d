// Duration of an increment, a read and a sum if each id has an owner among three nodes, over HTTP.
import { once } from 'node:events'
import { counterClient } from '@sluice/counters'
import { postgresLedger } from '@sluice/counters/postgres'
import { HashRing } from '@sluice/fleet/backend'
import pg from 'pg'
import { childOptions, finishChild, startChild } from '../run/child.mjs'
import { quantiles, timed } from '../run/latencies.mjs'

const { url, ms, ids } = childOptions()
const names = ['a', 'b', 'c']
const pool = new pg.Pool({ connectionString: url })
await postgresLedger(pool).migrate()
const nodes = names.map((self) => startChild(new URL('./counters-owner.mjs', import.meta.url), { self, url }))
const started = await Promise.all(nodes.map((node) => once(node, 'message')))
const addresses = Object.fromEntries(started.map(([address], index) => [names[index], address]))
await Promise.all(
  nodes.map((node) => {
    node.send(addresses)
    return once(node, 'message')
  }),
)
// the same assignment as the nodes use
const ring = new HashRing(names, { nodes: 100 })
const all = Array.from({ length: ids }, (_, index) => `page:${index}`)
const elsewhere = all.filter((id) => ring.serverOf(id) !== 'a')
const [one, routed] = [addresses.a, addresses].map((address) => counterClient({ url: address, retries: 0 }))
for (const id of all) await routed.increment(id)
const result = {
  forwarded: await measured(elsewhere, (id) => one.increment(id)),
  routed: await measured(all, (id) => routed.increment(id)),
  forwardedRead: await measured(elsewhere, (id) => one.read(id)),
  routedRead: await measured(all, (id) => routed.read(id)),
  sums: await measured(all, () => routed.aggregate('page:')),
}
for (const node of nodes) node.kill()
finishChild(result)

/** Sends one request at a time. */
async function measured(of, call) {
  const latencies = []
  const endsAt = performance.now() + ms
  for (let index = 0; performance.now() < endsAt; index++) await timed(() => call(of[index % of.length]), latencies)
  return quantiles(latencies)
}
