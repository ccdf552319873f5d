import type { Cap, InflightBackend } from '../contracts.ts'
import { SluiceError } from '../errors.ts'

interface Claim {
  readonly data: string
  holders: number
}

const KEY = Symbol.for('sluice.caps@1')

// shared by the ESM and the CommonJS copy: both must see the same claims
function claims(): WeakMap<InflightBackend, Map<string, Claim>> {
  const home = globalThis as { [KEY]?: WeakMap<InflightBackend, Map<string, Claim>> }
  home[KEY] ??= new WeakMap()
  return home[KEY]
}

/**
 * Claims the name of a cap on a backend. The same data may be claimed again and is shared then; other data throws
 * `SLUICE_DUPLICATE_POLICY`, since two limits cannot hold for one count. Returns a function that gives the claim back.
 */
export function claimCap(backend: InflightBackend, cap: Cap): () => void {
  const taken = claims().get(backend) ?? new Map<string, Claim>()
  claims().set(backend, taken)
  const id = JSON.stringify([cap.place, cap.name])
  const data = JSON.stringify(cap)
  const claim = taken.get(id) ?? { data, holders: 0 }
  if (claim.data !== data) {
    throw new SluiceError(
      'SLUICE_DUPLICATE_POLICY',
      `cap '${cap.name}': got ${data}, expected what this backend counts already: ${claim.data}; give the cap a name of its own`,
    )
  }
  claim.holders++
  taken.set(id, claim)
  let held = true
  return () => {
    if (held && --claim.holders === 0) taken.delete(id)
    held = false
  }
}
