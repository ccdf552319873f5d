// autocannon in a process of its own, so that the server shares no thread with it.
import autocannon from 'autocannon'
import { childOptions, finishChild } from './child.mjs'

const { url, connections, seconds, amount } = childOptions()
const extent = amount === undefined ? { duration: seconds } : { amount }
const result = await autocannon({ url, connections, pipelining: 1, ...extent })
finishChild({
  requests: result.requests.total,
  perSecond: result.requests.total / result.duration,
  denied: result.statusCodeStats['429']?.count ?? 0,
  passed: result.statusCodeStats['200']?.count ?? 0,
  failed: result.errors + result.timeouts,
})
