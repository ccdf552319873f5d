export { BadSeedError } from './bad-seed-error.ts'
export { withPage } from './error-page.ts'
export { scattered } from './joined-sums.ts'
export { createKeyedHash, type KeyedHash } from './keyed-hash.ts'
