// autocannon in a separate process, so that no server shares a thread with it. Runs a load for each message.
import autocannon from 'autocannon'
import { childOptions } from './child.mjs'

childOptions()
process.on('message', async ({ id, url, connections, seconds, amount }) => {
  const extent = amount === undefined ? { duration: seconds } : { amount }
  const result = await autocannon({ url, connections, pipelining: 1, ...extent })
  process.send({
    id,
    requests: result.requests.total,
    perSecond: result.requests.total / result.duration,
    denied: result.statusCodeStats['429']?.count ?? 0,
    passed: result.statusCodeStats['200']?.count ?? 0,
    failed: result.errors + result.timeouts,
  })
})
