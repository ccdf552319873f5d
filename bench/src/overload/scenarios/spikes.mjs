import { peers, shedding, sluice } from '../contender-names.mjs'
import { sourceOf } from './sources.mjs'
import { spike } from './verdicts.mjs'

const kinds = [
  { factor: 1.4, leastCritical: 99 },
  // connections that wait until they are accepted are seen by no code of the process
  { factor: 10, leastCritical: 90 },
  { factor: 10, leastCritical: 99, openConnections: 500 },
]

/**
 * Rates are multiples of the capacity, which is measured at the start. A tenth of the capacity is critical. Clients open
 * a connection when none is free, or have opened many before, as proxies do. A cap does not make a handler faster that
 * occupies the event loop, so only `shed` has targets.
 */
export function spikes(ms) {
  return kinds.map(({ factor, leastCritical, openConnections }) => {
    const [before, during, after] = [ms(5), ms(10), ms(5)]
    const steps = (most) => (perSecond) => [
      [0, 0.7 * perSecond],
      [before, most * perSecond],
      [before + during, 0.7 * perSecond],
    ]
    return {
      name: `spike of ${factor}${openConnections ? ', open' : ''}`,
      title: `Spike: ${factor} times the capacity of a handler with 5 ms of CPU${openConnections ? `, ${openConnections} connections are open before` : ''}`,
      contenders: ['no limiter', ...peers, ...(openConnections ? [] : ['fixed cap', 'gradient', ...sluice]), shedding],
      judged: [shedding],
      openConnections,
      durationMs: before + during + after,
      service: { cpuMs: 5 },
      sources: [
        sourceOf('critical', 0, {
          headers: { 'x-priority': 'critical' },
          rateOf: (capacity) => [[0, 0.1 * capacity]],
        }),
        sourceOf('normal', 0, { headers: { 'x-priority': 'normal' }, rateOf: steps(factor - 0.1) }),
      ],
      settings: { timeoutMs: 50, maxWaitMs: 100, byPriority: true },
      giveUpMs: 2_000,
      verdict: spike(leastCritical),
    }
  })
}
