import { peers, published, shedding, sluice } from './contender-names.mjs'
import { byStage, comparison, noisy, runaway, spike } from './verdicts.mjs'

const workers = 12
/** A shorter spike has too few critical requests to tell 99 % from 98 %. */
const shortest = 0.1
const fullMs = (seconds) => seconds * 1_000

/**
 * The scenarios with workers or with CPU work. `scale` shortens their times. Where work only waits for a timer, the
 * contenders need little CPU and may run side by side (`isLight`).
 */
export function scenarios(scale) {
  const ms = (seconds) => Math.max(300, Math.round(seconds * 1_000 * scale))
  return [staged(ms), noisyNeighbour(ms), ...runaways(ms), compared(ms), ...spikes(scale < shortest ? ms : fullMs)]
}

function staged(ms) {
  return {
    name: 'staged',
    title: 'Staged: 100 requests per second, 50 ms of work, then 150, then 50',
    contenders: ['no limiter', 'fixed cap', ...peers, 'gradient', 'vegas', ...sluice],
    ...slowMiddle([ms(60), ms(120), ms(60)]),
    verdict: byStage,
  }
}

function noisyNeighbour(ms) {
  return {
    name: 'noisy neighbour',
    title: 'Noisy neighbour: users with 150, 50 and 10 requests per second, 100 ms of work',
    isLight: true,
    contenders: ['no limiter', 'fixed cap', 'gradient', ...sluice],
    durationMs: ms(60),
    service: service([[0, 100]]),
    sources: [150, 50, 10].map((rate) => sourceOf(`${rate} per second`, rate, { 'x-client': `user-${rate}` })),
    settings: { timeoutMs: 300, maxWaitMs: 500, byClient: true },
    fair: [60, 50, 10],
    verdict: noisy,
  }
}

function runaways(ms) {
  return [100, 97].map((rate) => ({
    name: `runaway at ${rate}`,
    title: `Runaway: ${rate} requests per second of a possible 100, 120 ms of work`,
    isLight: true,
    contenders: ['gradient', ...sluice],
    durationMs: ms(600),
    service: service([[0, 120]]),
    sources: [sourceOf('all', rate)],
    settings: { timeoutMs: 360, maxWaitMs: 500 },
    optimum: workers,
    verdict: runaway,
  }))
}

function compared(ms) {
  return {
    name: 'comparison',
    title: 'Comparison: 100 requests per second, 50, 150 and 50 ms of work for 20, 40 and 20 s',
    contenders: ['no limiter', 'fixed cap', ...peers, ...published, ...sluice],
    ...slowMiddle([ms(20), ms(40), ms(20)]),
    verdict: comparison,
  }
}

/** 100 requests per second, whose work takes three times as long in the second of three stages. */
function slowMiddle([first, second, third]) {
  return {
    isLight: true,
    durationMs: first + second + third,
    service: service([
      [0, 50],
      [first, 150],
      [first + second, 50],
    ]),
    sources: [sourceOf('all', 100)],
    settings: { timeoutMs: 300, maxWaitMs: 500 },
  }
}

/** Rates are multiples of the capacity, which is measured at the start. A tenth of the capacity is critical. */
function spikes(ms) {
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
        { ...sourceOf('critical', 0, { 'x-priority': 'critical' }), rateOf: (capacity) => [[0, 0.1 * capacity]] },
        {
          ...sourceOf('normal', 0, { 'x-priority': 'normal' }),
          rateOf: (capacity) => steps(factor - 0.1)(capacity),
        },
      ],
      settings: { timeoutMs: 50, maxWaitMs: 100, byPriority: true },
      giveUpMs: 2_000,
      verdict: spike,
    }
  })
}

function service(serviceMs) {
  return { workers, serviceMs }
}

function sourceOf(name, rate, headers = {}) {
  return { name, path: '/', headers, rate: [[0, rate]] }
}
