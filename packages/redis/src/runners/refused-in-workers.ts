import { isWorker } from '@sluice/fleet/backend'
import { SluiceError } from '@sluice/limiter-core/backend'

/**
 * Throws `SLUICE_BAD_OPTION` on Cloudflare Workers, for what shares a call between requests: there, a call ends with the
 * request that made it, and the others would wait forever.
 */
export function refusedInWorkers(owner: string): void {
  if (!isWorker()) return
  throw new SluiceError(
    'SLUICE_BAD_OPTION',
    `${owner}: cannot run on Cloudflare Workers, where requests share no calls; use redisBackend or Durable Objects`,
  )
}
