import type { Backend } from '../contracts.ts'
import { processWide } from '../process/process-wide.ts'

const KEY = Symbol.for('sluice.infallible@1')

// a set instead of a property, because a copy or wrapper of the backend object would inherit a property
function backends(): WeakSet<Backend> {
  return processWide(KEY, () => new WeakSet())
}

/** Marks a backend that counts in this process and cannot fail, so that limiters use it without failover. */
export function markInfallible<B extends Backend>(backend: B): B {
  backends().add(backend)
  return backend
}

export function isInfallible(backend: Backend): boolean {
  return backends().has(backend)
}
