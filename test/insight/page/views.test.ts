import { describe, expect, test } from '@jest/globals'
import { CounterMetric, GaugeMetric } from '@sluice/fleet/metrics'
import { createInsight } from '@sluice/insight'
import type { Page } from 'playwright-core'
import { BrowserSession, go, textOf, until } from './browser-session.ts'
import { WatchedFleet } from './simulated-fleet.ts'

const session = new BrowserSession()
const VIEWS = ['#/', '#/?span=day', '#/policies', '#/policies/api', '#/sources', '#/processes', '#/events']

const chosen = (page: Page) => page.locator('.spans [aria-current]').textContent()
const label = (page: Page) => page.locator('#chart').getAttribute('aria-label')

describe('the displayed time span', () => {
  test('can be changed by links, is part of the URL, and is restored from it', async () => {
    const { page, faults } = await session.shown(new WatchedFleet())
    expect(await chosen(page)).toBe('Last hour')
    await page.getByRole('link', { name: 'Last 24 hours' }).click()
    await until(page, 'h2', 'Decision rate, last 24 hours')
    expect(page.url()).toMatch(/#\/\?span=day$/)
    expect(await label(page)).toContain('over the last 24 hours')
    // the focus stays on the link
    expect(await page.evaluate('document.activeElement?.textContent')).toBe('Last 24 hours')
    await page.goBack()
    await until(page, 'h2', 'Decision rate, last hour')
    expect(await label(page)).toContain('over the last hour')
    await page.goForward()
    await page.reload()
    await until(page, 'h2', 'Decision rate, last 24 hours')
    expect(await chosen(page)).toBe('Last 24 hours')
    expect(faults).toEqual([])
  })

  test('can be changed for a policy, too, with a table of hours', async () => {
    const { page, faults } = await session.shown(new WatchedFleet(), {}, '#/policies/api')
    await page.getByRole('link', { name: 'Last 24 hours' }).click()
    await until(page, 'h2', 'Decision rate, last 24 hours')
    expect(page.url()).toMatch(/#\/policies\/api\?span=day$/)
    await page.locator('summary').click()
    expect(await page.locator('details tbody tr').count()).toBe(24)
    // 340 a second, varied by waves
    const [, allowed] = await page.locator('details tbody tr').nth(5).locator('th, td').allTextContents()
    expect(Number.parseFloat(allowed)).toBeGreaterThan(150)
    expect(Number.parseFloat(allowed)).toBeLessThan(550)
    expect(faults).toEqual([])
  })

  test('applies to the charts of caps as well', async () => {
    const { page } = await session.shown(new WatchedFleet())
    const points = async () =>
      (await page.locator('.sparkline polyline').first().getAttribute('points'))?.split(' ').length
    expect(await points()).toBe(61)
    await go(page, '#/?span=day')
    await until(page, 'th', 'last 24 hours')
    expect(await points()).toBe(96)
  })
})

describe('banned keys', () => {
  test('are listed with the time that is left, and link to the page of the key', async () => {
    const { page, faults } = await session.shown(new WatchedFleet())
    await until(page, 'h2', 'Banned keys')
    const row = page.locator('section:has-text("Banned keys") tbody tr').first()
    expect((await row.locator('td').allTextContents()).map((text) => text.replaceAll('\u00a0', ' '))).toEqual([
      ...['scraper-9', 'api', '10 min', '2'],
    ])
    expect(await row.locator('a').first().getAttribute('href')).toContain('scraper-9')
    expect(faults).toEqual([])
  })
})

describe('counters and sync', () => {
  test('shows the metrics of sources, by subject, with descriptions and units', async () => {
    const { page, faults } = await session.shown(new WatchedFleet())
    await page.getByRole('link', { name: 'Metrics' }).click()
    await until(page, 'h2', 'Metrics')
    expect(await page.locator('#view h2').allTextContents()).toEqual([
      ...['Metrics', 'Quotas', 'Usage counters', 'Global limits', 'Synchronisation'],
    ])
    const text = (await textOf(page, '#view')).replaceAll('\u00a0', ' ')
    expect(text).toContain('Values of this process only')
    expect(text).toContain('Keys that used 80, 100 or another chosen percentage of a quota.')
    expect(text).toContain('mean 3.2 ms18,204 samples, p50 ≤ 5 ms, p99 ≤ 25 ms')
    expect(text).toContain('policy monthly, threshold 80')
    expect(text).toContain('1,204')
    expect(text).toContain('3 MB')
    expect(faults).toEqual([])
  })

  test('shows a hint if there are no metric sources', async () => {
    const insight = createInsight()
    session.closing.push(() => insight.close())
    const { page } = await session.shown(insight)
    expect(await page.getByRole('link', { name: 'Metrics' }).count()).toBe(0)
    await go(page, '#/sources')
    await until(page, '.empty', 'No metric sources are attached.')
  })

  test('shows the sources of a real insight', async () => {
    const [moves, depth] = [
      new CounterMetric({ name: 'sluice_gossip_moves_total', help: 'Moves that <b>others</b> made.', labels: ['of'] }),
      new GaugeMetric({ name: 'queue_depth', help: 'Jobs that wait.' }),
    ]
    const insight = createInsight({ sources: [moves, depth] })
    session.closing.push(() => insight.close())
    moves.add(1_234, '<script>')
    const { page } = await session.shown(insight, {}, '#/sources')
    await until(page, '#view', '1,234')
    const text = await textOf(page, '#view')
    for (const shown of [
      'Gossip',
      'Moves that <b>others</b> made.',
      'of <script>',
      'Other metrics',
      'Jobs that wait.',
    ]) {
      expect(text).toContain(shown)
    }
    depth.set(7)
    await until(page, 'td', '7')
  })
})

test('on a phone the page is not wider than the screen, and scrollable parts are focusable and named', async () => {
  const long = 'a-name-that-is-long-and-has-no-blank-anywhere-'.repeat(3)
  const [policy, ...others] = new WatchedFleet().snapshot().policies
  const fleet = new WatchedFleet({ policies: [{ ...policy, nearest: { key: long, usedShare: 1 } }, ...others] })
  const { page, faults } = await session.shown(fleet, { viewport: { width: 390, height: 800 } })
  for (const hash of VIEWS) {
    await go(page, hash)
    await page.waitForFunction(`location.hash === '${hash}' && document.querySelector('#view h2') !== null`)
    expect({ hash, beyond: await page.evaluate(BEYOND) }).toEqual({ hash, beyond: [] })
  }
  expect(faults).toEqual([])
})

/** Finds elements outside of the window that cannot be scrolled to with the keyboard. */
const BEYOND = `(() => {
  const name = (each) => each.tagName + '.' + each.getAttribute('class') + ' ' + each.textContent.slice(0, 40)
  const wide = document.documentElement.scrollWidth > innerWidth ? ['the page: ' + document.documentElement.scrollWidth] : []
  const outside = [...document.body.querySelectorAll('*')].filter((each) => {
    if (each.closest('#chart') || each.getBoundingClientRect().width === 0) return false
    const region = each.closest('.scroll')
    return region === null && each.getBoundingClientRect().right > innerWidth + 1
  })
  const unreachable = [...document.querySelectorAll('.scroll')].filter((each) =>
    each.tabIndex !== 0 || each.getAttribute('role') !== 'region' || !each.getAttribute('aria-label'))
  const clipped = [...document.querySelectorAll('main *')].filter((each) => {
    const style = getComputedStyle(each)
    // heads of tables that are for screen readers alone
    if (style.clipPath !== 'none') return false
    return !each.closest('#chart') && style.overflowX === 'hidden' && each.scrollWidth > each.clientWidth
  })
  return [...wide, ...[...outside, ...unreachable, ...clipped].map(name)]
})()`
