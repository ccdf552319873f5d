import type { Backend } from '../contracts.ts'

const KEY = Symbol.for('sluice.infallible@1')

// shared by every copy of the package; a list and no property, which a copy of the object would have as well
function backends(): WeakSet<Backend> {
  const home = globalThis as { [KEY]?: WeakSet<Backend> }
  home[KEY] ??= new WeakSet()
  return home[KEY]
}

/** The same, which counts in this process and cannot fail: no failover stands before it. For backends of this suite alone. */
export function infallible<B extends Backend>(backend: B): B {
  backends().add(backend)
  return backend
}

export function isInfallible(backend: Backend): boolean {
  return backends().has(backend)
}
