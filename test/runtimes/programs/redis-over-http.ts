// Takes from a limit of 3 in Redis over HTTP, and prints which of 5 requests are allowed.
import { createLimiter } from '@sluice/limiter-core'
import { redisBackend } from '@sluice/redis'
import { Redis } from '@upstash/redis'

const [url, token] = process.argv.slice(2)
const backend = redisBackend(new Redis({ url, token }))
const limiter = createLimiter({ policies: [{ name: 'api', limit: 3, window: '1h' }], backend, deadlineMs: '10s' })
const allowed: boolean[] = []
for (let request = 0; request < 5; request++) allowed.push((await limiter.take('a')).allowed)
process.stdout.write(`${JSON.stringify(allowed)}\n`, () => process.exit())
