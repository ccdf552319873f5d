// A hold and its settlement beside a take and its correction on one backend, in turns, in a separate process.
import { postgresLedger } from '@sluice/counters/postgres'
import { createLimiter, memoryBackend } from '@sluice/limiter-core'
import { postgresBackend } from '@sluice/postgres'
import { createQuotas, quota } from '@sluice/quotas'
import { leasedBackend, redisBackend, syncedBackend } from '@sluice/redis'
import pg from 'pg'
import { connect } from '../redis/redis-client.mjs'
import { childOptions, finishChild } from '../run/child.mjs'

const { kind, redisPort, postgresUrl, turns, calls } = childOptions()
const RESERVED = 10
const SPENT = 7

const backends = {
  memory: () => memoryBackend(),
  redis: async () => redisBackend(await connect(redisPort)),
  leased: async () => leasedBackend(await connect(redisPort)),
  synced: async () => syncedBackend(await connect(redisPort)),
  postgres: async () => {
    const backend = postgresBackend(pool())
    await backend.migrate()
    return backend
  },
  quotas: async () => {
    const ledger = postgresLedger(pool())
    await ledger.migrate()
    return createQuotas(ledger)
  },
}
/** Calls of one key, with a limit that is too small for leases. */
const SMALL = { limit: 79, calls: 10 }
const backend = await backends[kind]()
const taking = limiterOf({ name: 'taking' })
const holding = limiterOf({ name: 'holding', maxHoldMs: '10m' })
let keys = 0
const ways = { take: backend.synchronous ? takeAtOnce : takeLater, hold: backend.synchronous ? holdAtOnce : holdLater }

// compiles the measured code
for (const way of Object.values(ways)) await timed(way)
const tookUs = { take: [], hold: [] }
for (let turn = 0; turn < turns; turn++) {
  const order = turn % 2 === 0 ? ['take', 'hold'] : ['hold', 'take']
  for (const way of order) tookUs[way].push(await timed(ways[way]))
}
finishChild(tookUs)

function pool() {
  return new pg.Pool({ connectionString: postgresUrl, max: 1 })
}

function limiterOf(own) {
  const policy =
    kind === 'quotas'
      ? quota({ limit: SMALL.limit, per: 'month', backend, ...own })
      : { limit: 900_000_000, window: '1h', algorithm: 'fixed-window', backend, ...own }
  return createLimiter({ policies: [policy], deadlineMs: 20_000 })
}

function keyOf(call) {
  return kind === 'quotas' ? `client ${keys + Math.floor(call / SMALL.calls)}` : 'client'
}

async function timed(way) {
  const from = performance.now()
  await way()
  const us = ((performance.now() - from) * 1_000) / calls
  keys += calls
  return us
}

function takeAtOnce() {
  for (let call = 0; call < calls; call++) {
    const taken = taking.take('client', RESERVED)
    taking.charge('client', SPENT - RESERVED, taken)
    prove(taken)
  }
}

function holdAtOnce() {
  for (let call = 0; call < calls; call++) {
    const hold = holding.hold('client', { reserve: RESERVED })
    hold.settle(SPENT)
    prove(hold.decision)
  }
}

async function takeLater() {
  for (let call = 0; call < calls; call++) {
    const taken = await taking.take(keyOf(call), RESERVED)
    await taking.charge(keyOf(call), SPENT - RESERVED, taken)
    prove(taken)
  }
}

async function holdLater() {
  for (let call = 0; call < calls; call++) {
    const hold = await holding.hold(keyOf(call), { reserve: RESERVED })
    await hold.settle(SPENT)
    prove(hold.decision)
  }
}

function prove({ allowed, counted }) {
  if (!allowed || !counted) throw new Error(`${kind} did not count a take far under its limit`)
}
