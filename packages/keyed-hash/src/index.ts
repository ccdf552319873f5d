export { BadSeedError } from './bad-seed-error.ts'
export { withPage } from './error-page.ts'
export { scattered } from './joined-lanes.ts'
export { createKeyedHash, type KeyedHash } from './keyed-hash.ts'
