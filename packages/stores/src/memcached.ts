export { type MemcachedClient, type MemcachedStoreOptions, memcachedStore } from './adapters/memcached-store.ts'
