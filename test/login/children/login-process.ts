// A process of an application that protects its login with counts in Redis.
import { type LoginAttempt, type LoginProtection, type LoginRequest, protectLogin } from '@sluice/http/login'
import { createRedis, redisBackend } from '@sluice/redis'

let logins: LoginProtection | undefined

/** Opens the login of this process. */
export function open(url: string): void {
  const backend = redisBackend(createRedis(url))
  logins = protectLogin({ secret: 'a secret of the tests', challenge: { bits: 1 }, backend, deadlineMs: '5s' })
}

/** Makes failed attempts, all at once. Returns how many were allowed. */
export async function guess(requests: readonly LoginRequest[]): Promise<number> {
  const attempts = await Promise.all(requests.map(attemptOf))
  return attempts.filter(({ outcome }) => outcome === 'allow').length
}

/** Logs in. Returns the device cookie; undefined if the attempt is not allowed. */
export async function logIn(request: LoginRequest): Promise<string | undefined> {
  const attempt = await attemptOf(request)
  return attempt.outcome === 'allow' ? attempt.succeeded() : undefined
}

function attemptOf(request: LoginRequest): Promise<LoginAttempt> {
  return (logins as LoginProtection).attempt(request)
}
