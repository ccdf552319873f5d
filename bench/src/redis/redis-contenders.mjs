import { redisFloors, redisRoundTrip, redisYardstick } from './redis-floors.mjs'
import { redisPeers } from './redis-peers.mjs'
import { redisSluice } from './redis-sluice.mjs'

export const redisContenders = [...redisFloors, ...redisPeers, ...redisSluice]

/** Contenders whose name contains `only`, and always the ones that ratios divide by. */
export function chooseRedisContenders(only = '') {
  return redisContenders.filter(({ name }) => name.includes(only) || name === redisYardstick || name === redisRoundTrip)
}
