import { redisFloors, redisYardstick } from './redis-floors.mjs'
import { redisPeers } from './redis-peers.mjs'
import { redisSluice } from './redis-sluice.mjs'

export const redisContenders = [...redisFloors, ...redisPeers, ...redisSluice]

/** Contenders whose name contains `only`, and always the one that ratios divide by. */
export function chooseRedisContenders(only = '') {
  return redisContenders.filter(({ name }) => name.includes(only) || name === redisYardstick)
}
