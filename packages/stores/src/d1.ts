export { type D1Database, type D1Statement, type D1Store, type D1StoreOptions, d1Store } from './adapters/d1-store.ts'
