import type { Backend } from '../contracts.ts'
import { processWide } from '../process/process-wide.ts'

const KEY = Symbol.for('sluice.infallible@1')

// a list and no property, which a copy of the object would have as well
function backends(): WeakSet<Backend> {
  return processWide(KEY, () => new WeakSet())
}

/** The same, which counts in this process and cannot fail: no failover stands before it. For backends of this suite alone. */
export function infallible<B extends Backend>(backend: B): B {
  backends().add(backend)
  return backend
}

export function isInfallible(backend: Backend): boolean {
  return backends().has(backend)
}
