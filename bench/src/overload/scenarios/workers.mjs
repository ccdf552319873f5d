import { peers, published, sluice } from '../contender-names.mjs'
import { sourceOf } from './sources.mjs'
import { byStage, comparison, noisy, runaway } from './verdicts.mjs'

const workers = 12

export function staged(ms) {
  return {
    name: 'staged',
    title: 'Staged: 100 requests per second, 50 ms of work, then 150, then 50',
    contenders: ['no limiter', 'fixed cap', ...peers, 'gradient', 'vegas', ...sluice],
    ...slowMiddle([ms(60), ms(120), ms(60)]),
    verdict: byStage,
  }
}

export function noisyNeighbour(ms) {
  return {
    name: 'noisy neighbour',
    title: 'Noisy neighbour: users with 150, 50 and 10 requests per second, 100 ms of work',
    mostLanes: 9,
    contenders: ['no limiter', 'fixed cap', 'gradient', ...sluice],
    durationMs: ms(60),
    service: service([[0, 100]]),
    // each user has an address, by which caps tell them apart
    sources: [150, 50, 10].map((rate) => sourceOf(`${rate} per second`, rate, { localAddress: `127.0.1.${rate}` })),
    settings: { timeoutMs: 300, maxWaitMs: 500 },
    fair: [60, 50, 10],
    verdict: noisy,
  }
}

export function runaways(ms) {
  return [100, 97].map((rate) => ({
    name: `runaway at ${rate}`,
    title: `Runaway: ${rate} requests per second of a possible 100, 120 ms of work`,
    mostLanes: 9,
    contenders: ['gradient', ...sluice],
    durationMs: ms(600),
    service: service([[0, 120]]),
    sources: [sourceOf('all', rate)],
    settings: { timeoutMs: 360, maxWaitMs: 500 },
    optimum: workers,
    verdict: runaway,
  }))
}

export function compared(ms) {
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
    mostLanes: 9,
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

function service(serviceMs) {
  return { workers, serviceMs }
}
