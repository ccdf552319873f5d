import type { IncomingMessage, ServerResponse } from 'node:http'
import { prometheusText } from '@sluice/fleet/metrics'
import type { MetricSource } from '@sluice/limiter-core'
import { badOption, messageOf } from '@sluice/limiter-core/backend'

/**
 * Returns a request handler for `node:http` and Express that serves the metrics in the Prometheus text format 0.0.4. It
 * answers GET and HEAD requests on any path, other methods with 405, and 500 with the reason if the metrics cannot be
 * written. Expose it to your internal network only.
 *
 * Throws `SLUICE_BAD_OPTION` if `insight` does not provide metrics.
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

/** Throws `SLUICE_BAD_OPTION` if `source` does not have a `metrics` method. */
export function checkSource(option: string, source: MetricSource): void {
  if (typeof source?.metrics !== 'function') throw badOption(option, source, 'an insight or another metric source')
}

function answer(res: ServerResponse, status: number, text: string, headers: Record<string, string> = {}): void {
  const type = status === 200 ? 'text/plain; version=0.0.4; charset=utf-8' : 'text/plain; charset=utf-8'
  // node:http does not send the body in response to HEAD
  res.writeHead(status, { 'content-type': type, 'content-length': Buffer.byteLength(text), ...headers }).end(text)
}
