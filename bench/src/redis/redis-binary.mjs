import { accessSync, constants } from 'node:fs'
import { delimiter, join } from 'node:path'

/** Path of `redis-server`: from the PATH, otherwise from REDIS_SERVER. Throws a clear error if both are missing. */
export function redisBinary({ PATH = '', REDIS_SERVER } = process.env) {
  const onPath = PATH.split(delimiter).map((folder) => join(folder, 'redis-server'))
  const found = [...onPath, ...(REDIS_SERVER ? [REDIS_SERVER] : [])].find(isExecutable)
  if (found) return found
  throw new Error(
    'redis-server is neither on the PATH nor named by REDIS_SERVER: install Redis 7, or leave out `redis`',
  )
}

function isExecutable(file) {
  try {
    accessSync(file, constants.X_OK)
    return true
  } catch {
    return false
  }
}
