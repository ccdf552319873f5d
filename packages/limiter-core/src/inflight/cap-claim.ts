import type { Cap, InflightBackend } from '../contracts.ts'
import { type ClaimedNames, claimName } from '../name-claims.ts'

const KEY = Symbol.for('sluice.caps@1')

// shared by every copy of the package: both must see the same claims
function claims(): ClaimedNames {
  const home = globalThis as { [KEY]?: ClaimedNames }
  home[KEY] ??= new WeakMap()
  return home[KEY]
}

/** Claims the name of a cap on a backend, as `claimName` says. */
export function claimCap(backend: InflightBackend, cap: Cap, shared: boolean): () => void {
  return claimName(claims(), backend, {
    name: cap.name,
    owner: `cap '${cap.name}'`,
    remedy: 'a name',
    id: JSON.stringify([cap.place, cap.name]),
    data: JSON.stringify(cap),
    limiter: cap,
    shared,
  })
}
