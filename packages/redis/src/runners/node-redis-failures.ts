import { RedisFailure } from '../client/redis-failure.ts'

/** Creates the failure of a call over a client that was not connected or has been closed. */
export function notConnectedFailure(): RedisFailure {
  return new RedisFailure('CONNECTION', 'the client of node-redis is not connected, or connect() was not called')
}

/** Creates the failure of a call that was not sent because the server does not answer earlier calls. */
export function silentFailure(): RedisFailure {
  const message = 'Redis does not answer earlier calls, and its connection is about to be replaced'
  return new RedisFailure('CONNECTION', message)
}
