// A Worker that takes from limits in Durable Objects: by the backend of a limiter, or by an object that users write
// themselves. GET /?way=…&callers=…&keys=…&batch=…&ms=…
import { env } from 'cloudflare:workers'
import { durableObjectBackend, LimitObject as Sluice } from '@sluice/cloudflare'
import { createLimiter } from '@sluice/limiter-core'
import { quantiles } from '../run/latencies.mjs'

const LIMIT = 900_000_000_000
const SHARDS = 64

export class LimitObject extends Sluice {
  #storage

  constructor(state, bindings) {
    super(state, bindings)
    this.#storage = state.storage
  }

  async fetch(request) {
    return request.url.startsWith('https://bare') ? this.#bare(await request.text()) : super.fetch(request)
  }

  /** Counts without windows, deadlines or batches. */
  async #bare(key) {
    const used = (await this.#storage.get(key)) ?? 0
    if (used >= LIMIT) return new Response('denied')
    await this.#storage.put(key, used + 1)
    return new Response('allowed')
  }
}

async function bare(key) {
  const shard = Number(key.slice(1)) % SHARDS
  const stub = env.LIMITS.get(env.LIMITS.idFromName(`bare:${shard}`))
  const response = await stub.fetch('https://bare.invalid/', { method: 'POST', body: key })
  if ((await response.text()) !== 'allowed') throw new Error('denied a key far under its limit')
}

function limiter(options) {
  const limits = createLimiter({
    policies: [{ name: 'bench', limit: LIMIT, window: '1h', algorithm: 'fixed-window' }],
    backend: durableObjectBackend(env.LIMITS, options),
    deadlineMs: 60_000,
  })
  return async (key) => {
    const { allowed, counted } = await limits.take(key)
    if (!(allowed && counted)) throw new Error('denied or did not count a key far under its limit')
  }
}

const ways = {
  bare,
  limits: limiter({ prefix: 'fast', shards: SHARDS }),
  'durable limits': limiter({ prefix: 'durable', shards: SHARDS, durable: true }),
  'one object': limiter({ prefix: 'one', shards: 1 }),
}

async function loop(take, { callers, keys, batch, ms }) {
  const latencies = []
  const endsAt = performance.now() + ms
  const takeSome = () => take(`k${Math.floor(Math.random() * keys)}`)
  const caller = async () => {
    for (let from = performance.now(); from < endsAt; ) {
      await Promise.all(Array.from({ length: batch }, takeSome))
      const to = performance.now()
      latencies.push(to - from)
      from = to
    }
  }
  await Promise.all(Array.from({ length: callers }, caller))
  return latencies
}

export default {
  async fetch(request) {
    const { way, ...load } = Object.fromEntries(new URL(request.url).searchParams)
    const [callers, keys, batch, ms] = ['callers', 'keys', 'batch', 'ms'].map((name) => Number(load[name]))
    await loop(ways[way], { callers, keys, batch, ms: ms / 5 })
    const latencies = await loop(ways[way], { callers, keys, batch, ms })
    const perSecond = (latencies.length * batch * 1_000) / ms
    return Response.json({ perSecond, ...quantiles(latencies) })
  },
}
