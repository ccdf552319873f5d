import type { Cap, InflightBackend } from '../contracts.ts'
import { claimName } from '../names/name-claims.ts'

/** Claims the name of a cap on a backend, see `claimName`. Returns a function that releases the name. */
export function claimCap(backend: InflightBackend, cap: Cap, shared: boolean): () => void {
  return claimName(backend, {
    name: cap.name,
    owner: `cap '${cap.name}'`,
    remedy: 'a name',
    id: JSON.stringify([cap.place, cap.name]),
    data: JSON.stringify(cap),
    limiter: cap,
    shared,
  })
}
