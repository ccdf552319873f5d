import { algorithms, type Backend, type Counter, type Policy } from '@sluice/limiter-core/backend'

const opened = new WeakMap<Backend, Map<string, Counter>>()

/** Returns the counter of a policy on a backend, within a scope, opened on first use. */
export function openedCounter(backend: Backend, scope: string, policy: Policy): Counter {
  const counters = opened.get(backend) ?? new Map<string, Counter>()
  opened.set(backend, counters)
  const id = JSON.stringify([scope, policy])
  let counter = counters.get(id)
  if (!counter) {
    const { name, version, compile } = algorithms[policy.algorithm]
    counter = backend.open(compile(policy), `${scope}/${policy.name}/${name}@${version}`)
    counters.set(id, counter)
  }
  return counter
}
