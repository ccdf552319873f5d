export { RedisUniques, type RedisUniquesOptions, redisUniques } from './redis-uniques.ts'
