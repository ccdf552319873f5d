export { BadSeedError } from './bad-seed-error.ts'
export { withErrorLink } from './error-page.ts'
export { scatterBits } from './joined-sums.ts'
export { createKeyedHash, type KeyedHash } from './keyed-hash.ts'
