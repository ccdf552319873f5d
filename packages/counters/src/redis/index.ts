export { type RedisCountersOptions, redisCounters } from './redis-counters.ts'
