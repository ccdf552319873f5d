import type { IncomingMessage, ServerResponse } from 'node:http'
import { type MetricSource, prometheusText } from '@sluice/limiter-core'
import { badOption, messageOf } from '@sluice/limiter-core/backend'

/**
 * A handler of `node:http`, and of Express, that answers the metrics in the text format 0.0.4 of Prometheus: to GET and
 * HEAD, whatever the path. 500 where they cannot be written, with the reason. Show it to your own network alone. Throws
 * `SLUICE_BAD_OPTION` for what has no metrics.
 */
export function metricsHandler(insight: MetricSource): (req: IncomingMessage, res: ServerResponse) => void {
  checkSource('metricsHandler: insight', insight)
  return (req, res) => {
    if (req.method !== 'GET' && req.method !== 'HEAD') return answer(res, 405, '', { allow: 'GET, HEAD' })
    try {
      answer(res, 200, prometheusText(insight))
    } catch (error) {
      answer(res, 500, `${messageOf(error)}\n`)
    }
  }
}

/** Throws `SLUICE_BAD_OPTION` for what has no metrics. */
export function checkSource(option: string, source: MetricSource): void {
  if (typeof source?.metrics !== 'function') throw badOption(option, source, 'an insight, or another source of metrics')
}

function answer(res: ServerResponse, status: number, text: string, headers: Record<string, string> = {}): void {
  const type = status === 200 ? 'text/plain; version=0.0.4; charset=utf-8' : 'text/plain; charset=utf-8'
  // to HEAD node:http writes the headers alone
  res.writeHead(status, { 'content-type': type, 'content-length': Buffer.byteLength(text), ...headers }).end(text)
}
