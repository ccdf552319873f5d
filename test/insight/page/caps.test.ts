import { expect, test } from '@jest/globals'
import type { TimelineSnapshot } from '@sluice/insight'
import { mergedTimeline } from '../../../packages/insight/src/page/browser/dom/timeline.ts'
import { BrowserSession, go, textOf, until } from './browser-session.ts'
import { WatchedFleet } from './simulated-fleet.ts'

const session = new BrowserSession()
const plain = (text: string): string => text.replaceAll('\u00a0', ' ')

test('a cap shows its limit, in-flight requests, latency, and denials by priority and reason', async () => {
  const { page, faults } = await session.shown(new WatchedFleet())
  await page.locator('main a', { hasText: 'reports' }).first().click()
  await until(page, 'h2', 'Cap reports')
  expect(page.url()).toMatch(/#\/caps\/reports$/)
  expect(await textOf(page, 'nav [aria-current]')).toBe('Caps')
  const text = plain(await textOf(page, '#view'))
  expect(text).toContain('In flight: 17 of 20 permits. Waiting: 3. Permits are held for 840 ms (p50) to 9.1 s (p99).')
  const cells = await page
    .locator('section:has-text("Permits by priority") tbody tr')
    .first()
    .locator('td')
    .allTextContents()
  expect(cells.map(plain)).toEqual(['critical', '4/s', '0/s', '1,204', '0', '0 %'])
  expect(text).toContain('Places needed for more important requests24Waited too long7')
  const charts = await page.locator('.plot').evaluateAll((all) => all.map((each) => each.getAttribute('aria-label')))
  expect(charts.map((label) => plain(label ?? ''))).toEqual([
    expect.stringMatching(/^Requests: Limit \d+ \(8 to 23\), In flight \d+ \(8 to 14\), Waiting/),
    expect.stringMatching(/^Latency: p50 .* ms \(.* ms to 9\d\d ms\), p99/),
    expect.stringMatching(/^Denied permits per second: .*sheddable 0\/s \(0\/s to 1\d\/s\)/),
  ])
  expect(await page.locator('.lines path').first().getAttribute('d')).toMatch(/^M0\.0 [\d.]+L/)
  expect(faults).toEqual([])
})

test('an objective is shown beside what was measured, and a missed one is marked', async () => {
  const { caps } = new WatchedFleet().snapshot()
  const objective = { quantile: 0.95, targetMs: 250 }
  const { page, faults } = await session.shown(
    new WatchedFleet({
      caps: [
        { ...caps[0], name: 'kept', objective: { ...objective, measuredMs: 212 } },
        { ...caps[0], name: 'missed', objective: { ...objective, measuredMs: 300 } },
        { ...caps[0], name: 'unused', objective: { ...objective, measuredMs: null } },
      ],
    }),
  )
  await go(page, '#/caps')
  await until(page, 'h2', 'All caps')
  const missed = await page.locator('td .missed').allTextContents()
  expect(missed.map(plain)).toEqual(['p95 300 ms of 250 ms'])
  await go(page, '#/caps/kept')
  await until(page, 'h2', 'Cap kept')
  expect(plain(await textOf(page, '#view'))).toContain('Objective: p95 within 250 ms; measured: 212 ms.')
  expect(faults).toEqual([])
})

test('hostile names of caps, policies and signals are text', async () => {
  const name = '<img src=x onerror=alert(1)>\u202e'
  const { caps, timeline } = new WatchedFleet().snapshot()
  const series = timeline.series.map((each) => ({ ...each, cap: name }))
  const shed = { priority: 'low' as const, shed: 4, perSecond: 2 }
  const { page, faults } = await session.shown(
    new WatchedFleet({
      caps: [{ ...caps[0], name }],
      timeline: { ...timeline, series },
      sheds: [{ policy: name, shadow: 3, pressure: 0.5, signal: name, byPriority: [shed] }],
    }),
  )
  await until(page, 'h2', 'Shed requests')
  const rows = await page.locator('section:has-text("Shed requests") tbody tr').allTextContents()
  expect(rows.map(plain)).toEqual([`${name}50 %${name}low2/s4`, `${name}50 %${name}all, in shadow mode–3`])
  await go(page, `#/caps/${encodeURIComponent(name)}`)
  await until(page, 'h2', `Cap ${name}`)
  expect(await page.locator('.plot').count()).toBe(3)
  expect(await page.locator('img').count()).toBe(0)
  await go(page, '#/caps/unknown')
  await until(page, '.empty', 'No process reports a cap with this name.')
  expect(faults).toEqual([])
})

test('an update of the timeline replaces the steps that it repeats, and keeps five minutes', () => {
  const timeline = (startAt: number, ...values: (number | null)[]): TimelineSnapshot => {
    return { startAt, stepMs: 2_000, series: [{ cap: 'a', measure: 'held', values }] }
  }
  const valuesOf = ({ series }: TimelineSnapshot) => series[0].values
  const shown = mergedTimeline(undefined, timeline(0, 1, 2, 3))
  expect(valuesOf(mergedTimeline(shown, timeline(2_000, 5, 6, 7)))).toEqual([1, 5, 6, 7])
  // a restart, and another grid
  for (const startAt of [18_000, -2_000, 7])
    expect(mergedTimeline(shown, timeline(startAt, 8))).toEqual(timeline(startAt, 8))
  const whole = mergedTimeline(undefined, timeline(0, ...Array(150).fill(1)))
  const moved = mergedTimeline(whole, timeline(298_000, 2, null, 4))
  expect({ startAt: moved.startAt, length: valuesOf(moved).length, last: valuesOf(moved).slice(-4) }).toEqual({
    ...{ startAt: 4_000, length: 150, last: [1, 2, null, 4] },
  })
  // no denials in the last steps: earlier ones stay
  const denied = { cap: 'a', measure: 'denied', priority: 'low', values: [9, 9, 9] } as const
  const kept = mergedTimeline({ ...shown, series: [...shown.series, denied] }, timeline(4_000, 3, 4))
  expect(kept.series[1]).toEqual({ ...denied, values: [9, 9, null, null] })
})
