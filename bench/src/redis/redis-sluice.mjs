import { policyOf } from '../decisions/sluice-contenders.mjs'
import { connect, connectToNothing } from './redis-client.mjs'

/** Accepts only decisions from `source`, because a limiter in fallback would be measured under the wrong name. */
export async function limiterOn(source, backendOf, scope, ...policies) {
  const [core, redis] = await Promise.all([import('@sluice/limiter-core'), import('@sluice/redis')])
  const backend = await backendOf({ ...core, ...redis })
  // long, so that a busy machine does not affect the result
  const limiter = core.createLimiter({ policies, backend, scope, deadlineMs: 5_000 })
  return { take: (key) => limiter.take(key), allowed: (decision) => decision.allowed && decision.source === source }
}

const exactOn =
  (port) =>
  async ({ redisBackend }) =>
    redisBackend(await connect(port))

function exact(algorithm) {
  return {
    name: `sluice exact, ${algorithm}`,
    role: 'exact',
    open: (promise) => limiterOn('redis', exactOn(promise.port), promise.scope, policyOf(algorithm, promise)),
  }
}

export const redisSluice = [
  exact('fixed-window'),
  exact('sliding-window'),
  exact('gcra'),
  {
    name: 'sluice exact, three policies',
    role: 'three',
    of: 'sluice exact, sliding-window',
    open({ port, limit, windowMs, scope }) {
      const policies = ['a', 'b', 'c'].map((name) => ({ name, limit, window: windowMs }))
      return limiterOn('redis', exactOn(port), scope, ...policies)
    },
  },
  {
    name: 'sluice leased',
    role: 'leased',
    open(promise) {
      const backendOf = async ({ leasedBackend }) => leasedBackend(await connect(promise.port))
      return limiterOn('leased', backendOf, promise.scope, policyOf('sliding-window', promise))
    },
  },
  {
    name: 'sluice exact, breaker open',
    role: 'open',
    async open(promise) {
      const backendOf = ({ redisBackend }) => redisBackend(connectToNothing())
      const opened = await limiterOn('local', backendOf, promise.scope, policyOf('sliding-window', promise))
      for (let call = 0; call < 100; call++) await opened.take(`opens the breaker ${call}`)
      return opened
    },
  },
  {
    name: 'sluice memory',
    role: 'memory',
    open(promise) {
      const backendOf = ({ memoryBackend }) => memoryBackend()
      return limiterOn('memory', backendOf, promise.scope, policyOf('sliding-window', promise))
    },
  },
]
