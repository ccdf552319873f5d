export { BadSeedError } from './bad-seed-error.ts'
export { createKeyedHash, type KeyedHash } from './keyed-hash.ts'
