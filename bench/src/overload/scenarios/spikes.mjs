import { peers, shedding, sluice } from '../contender-names.mjs'
import { sourceOf } from './sources.mjs'
import { spike } from './verdicts.mjs'

/** Rates are multiples of the capacity, which is measured at the start. A tenth of the capacity is critical. */
export function spikes(ms) {
  return [1.4, 10].map((factor) => {
    const [before, during, after] = [ms(5), ms(10), ms(5)]
    const steps = (most) => (perSecond) => [
      [0, 0.7 * perSecond],
      [before, most * perSecond],
      [before + during, 0.7 * perSecond],
    ]
    return {
      name: `spike of ${factor}`,
      title: `Spike: ${factor} times the capacity of a handler with 5 ms of CPU`,
      contenders: ['no limiter', 'fixed cap', ...peers, 'gradient', ...sluice, shedding],
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
      verdict: spike,
    }
  })
}
