import { describe, expect, test } from '@jest/globals'
import type { Sample } from '../children/answer-record.ts'
import type { Report } from '../children/app.ts'
import type { Passed } from '../fleet.ts'
import {
  allAnswered,
  countsAgree,
  countsNoneTwice,
  deniedUntilLost,
  holdsAlways,
  isUsedAgain,
  staysDenied,
} from './bounds.ts'
import { Findings } from './findings.ts'
import { Timeline } from './timeline.ts'

/** A fault of one second and what one application recorded. Default: a successful decision every millisecond. */
function seen(samples: Partial<Sample>[] = [], report: Partial<Report> = {}): Passed {
  const usual = Array.from({ length: 1_000 }, (_, ms) => sample({ at: ms }))
  const reports = [
    {
      ...{ samples: [...usual, ...samples.map(sample)], rejected: 0, unhandled: [], pending: 0, warnings: [] },
      ...{ causes: {}, opened: 0, longestStallMs: 0 },
      ...report,
    },
  ]
  return { client: 'ioredis', timeline: new Timeline(reports), from: 0, to: 1_000 }
}

function sample({ at = 500, ms = 1, ...other }: Partial<Sample>): Sample {
  const usual = { policy: 'counter', key: 'user', allowed: true, counted: true, breaker: 'closed' } as const
  return { ...usual, at, ms, endedAt: at + ms, ...other }
}

function missesOf(look: (findings: Findings) => void): readonly string[] {
  const findings = new Findings()
  look(findings)
  return findings.misses
}

const many = (length: number, one: Partial<Sample>): Partial<Sample>[] => Array.from({ length }, () => one)
const denied = many(10, { policy: 'guarded', key: 'attacker', allowed: false })

describe('the checks report nothing', () => {
  test('if there are no failures', () => {
    const passed = seen([...denied, { at: 1_200 }])
    const misses = missesOf((findings) => {
      holdsAlways(findings, passed)
      staysDenied(findings, passed.timeline)
      isUsedAgain(findings, passed)
      countsAgree(findings, passed.timeline, 1_001, [passed])
    })
    expect(misses).toEqual([])
  })
})

describe('the checks report', () => {
  test.each<[string, Passed]>([
    ['decisions that take longer than the deadline', seen(many(20, { ms: 61 }))],
    ['decisions of an open breaker that take long', seen(many(20, { ms: 3, breaker: 'open' }))],
    ['a rejection', seen([], { rejected: 1 })],
    ['an error that nobody handled', seen([], { unhandled: ['Error'] })],
    ['an unhandled error', seen([], { pending: 1 })],
    ['two lines in a second', seen([], { warnings: [1, 800].map((at) => ({ at, code: 'FAILED', message: '' })) })],
  ])('%s', (_, passed) => {
    expect(missesOf((findings) => holdsAlways(findings, passed))).toHaveLength(1)
  })

  test('a denied key that is admitted once, or that was hardly tried', () => {
    const admitted = seen([...denied, { policy: 'guarded', key: 'attacker' }])
    expect(missesOf((findings) => staysDenied(findings, admitted.timeline))).toHaveLength(1)
    expect(missesOf((findings) => staysDenied(findings, seen().timeline))).toHaveLength(1)
  })

  test('a denied key that is admitted before the counts are lost, or above its limit afterwards', () => {
    const attempt = { policy: 'guarded', key: 'attacker' } as const
    const missesWith = (...samples: Partial<Sample>[]): readonly string[] =>
      missesOf((findings) => deniedUntilLost(findings, seen([...denied, ...samples]), 2))
    const later = { ...attempt, at: 1_100 }
    expect(missesWith(later, later)).toEqual([])
    expect(missesWith(later, later, later)).toHaveLength(1)
    expect(missesWith({ ...attempt, counted: false })).toHaveLength(1)
  })

  test('a store that is not used again, or too late', () => {
    expect(missesOf((findings) => isUsedAgain(findings, seen()))).toHaveLength(1)
    expect(missesOf((findings) => isUsedAgain(findings, seen([{ at: 2_051 }])))).toHaveLength(1)
  })

  test('lost counts', () => {
    const passed = seen()
    expect(missesOf((findings) => countsAgree(findings, passed.timeline, 999, [passed]))).toHaveLength(1)
  })

  test('counts of callers that timed out during the fault, and not of callers that asked before it', () => {
    const within = seen([{ at: 100, ms: 50, counted: false }])
    const before = seen([{ at: -20, ms: 50, counted: false }])
    expect(missesOf((findings) => countsAgree(findings, within.timeline, 1_001, [within]))).toHaveLength(1)
    expect(missesOf((findings) => countsAgree(findings, before.timeline, 1_001, [before]))).toEqual([])
    expect(missesOf((findings) => countsNoneTwice(findings, within.timeline, 1_001))).toEqual([])
    expect(missesOf((findings) => countsNoneTwice(findings, within.timeline, 1_002))).toHaveLength(1)
  })

  test('nothing if a recovery line follows a failure line', () => {
    const codes = ['SLUICE_BACKEND_FAILED', 'SLUICE_BACKEND_RECOVERED']
    const warnings = codes.map((code, at) => ({ at, code, message: '' }))
    expect(missesOf((findings) => allAnswered(findings, seen([], { warnings }).timeline))).toEqual([])
    const twice = [...warnings, { at: 5, code: 'SLUICE_BACKEND_RECOVERED', message: '' }]
    expect(missesOf((findings) => allAnswered(findings, seen([], { warnings: twice }).timeline))).toHaveLength(1)
  })
})
