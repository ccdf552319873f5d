// Takes from one key in a separate process: from a quota, or from a leased limit in Redis.
import { setTimeout as sleep, setImmediate as turn } from 'node:timers/promises'
import { postgresLedger } from '@sluice/counters/postgres'
import { createLimiter } from '@sluice/limiter-core'
import { createQuotas, quota } from '@sluice/quotas'
import { leasedBackend } from '@sluice/redis'
import pg from 'pg'
import { connect } from '../redis/redis-client.mjs'
import { childOptions, finishChild } from '../run/child.mjs'
import { quantiles } from '../run/latencies.mjs'

const { backend, url, port, ms, what } = childOptions()
const tasks = 20
const everyMs = 20
const limit = 900_000_000_000_000
const statements = { count: 0 }

const makes = {
  quotas: async () => {
    const pool = new pg.Pool({ connectionString: url, max: 4 })
    const sql = {
      query: (text, values) => {
        statements.count++
        return pool.query(text, values)
      },
    }
    const ledger = postgresLedger(sql)
    await ledger.migrate()
    return quota({ name: what, limit, per: 'month', backend: createQuotas(ledger) })
  },
  leased: async () => {
    const made = leasedBackend(await connect(port))
    return { name: what, limit, window: '1h', algorithm: 'fixed-window', backend: made }
  },
}

const policy = await makes[backend]()
// long, so that a busy machine does not affect the result
const limiter = createLimiter({ policies: [policy], scope: 'bench', deadlineMs: 5_000 })
// opens the connection, compiles the measured code, and lets the lease grow
for (let call = 0; call < 20_000; call++) {
  await limiter.take('hot')
  if (call % 100 === 0) await turn()
}
finishChild(await { crowd, loop }[what]())

/** Twenty callers that each take from the key every 20 ms, in step like the timers of one process. */
async function crowd() {
  const tookMs = []
  statements.count = 0
  const from = performance.now()
  const caller = async () => {
    while (performance.now() - from < ms) {
      const began = performance.now()
      const given = limiter.take('hot')
      const { allowed } = typeof given.then === 'function' ? await given : given
      tookMs.push(performance.now() - began)
      if (!allowed) throw new Error('denied a key far under its limit')
      await sleep(everyMs)
    }
  }
  await Promise.all(Array.from({ length: tasks }, caller))
  const seconds = (performance.now() - from) / 1_000
  return { asked: tookMs.length, ...quantiles(tookMs), statements: statements.count / seconds }
}

/** Takes one after the other as fast as possible, while the lease is refilled in between. */
async function loop() {
  let takes = 0
  let cpuUs = 0
  const endsAt = performance.now() + ms
  while (performance.now() < endsAt) {
    const before = process.cpuUsage()
    for (let call = 0; call < 1_000; call++) {
      const given = limiter.take('hot')
      const { allowed } = typeof given.then === 'function' ? await given : given
      if (!allowed) throw new Error('denied a key far under its limit')
    }
    const { user, system } = process.cpuUsage(before)
    cpuUs += user + system
    takes += 1_000
    await turn()
  }
  return { takes, cpuNs: (cpuUs / takes) * 1_000 }
}
