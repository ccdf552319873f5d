import type { Backend } from '../contracts.ts'
import { processWide } from '../process/process-wide.ts'

const KEY = Symbol.for('sluice.infallible@1')

// a list and no property, which a copy of the object would have as well
function backends(): WeakSet<Backend> {
  return processWide(KEY, () => new WeakSet())
}

/**
 * Marks a backend of this suite that counts in this process and cannot fail, so that no failover is put in front of
 * it.
 */
export function infallible<B extends Backend>(backend: B): B {
  backends().add(backend)
  return backend
}

export function isInfallible(backend: Backend): boolean {
  return backends().has(backend)
}
