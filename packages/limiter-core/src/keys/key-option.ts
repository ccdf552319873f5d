import { SluiceError } from '../errors/errors.ts'
import { kindOf } from '../errors/shown.ts'
import type { KeySource } from './key-source.ts'
import { byAll, byHeader, byIp, byPrincipal, byRoute } from './sources.ts'

const MAKERS: readonly unknown[] = [byAll, byHeader, byIp, byPrincipal, byRoute]

/**
 * Returns the key source of an option. Throws `SLUICE_BAD_OPTION` for an invalid one, such as a source factory that
 * was not called.
 */
export function keySourceOf<Req>(key: unknown): KeySource<Req> {
  if (typeof key === 'function' && !MAKERS.includes(key)) return key as KeySource<Req>
  const got = typeof key === 'function' ? `${key.name} itself, which makes one` : kindOf(key)
  throw new SluiceError('SLUICE_BAD_OPTION', `key: expected a function such as byIp(), received ${got}`)
}
