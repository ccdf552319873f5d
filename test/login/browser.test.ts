import { randomBytes } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { proofField, proofOfWork, proofPage, protectLogin } from '@sluice/http/login'
import { memoryBackend } from '@sluice/limiter-core'
import type { Browser } from 'playwright-core'
import { type Listening, listening, openBrowser, openPage } from '../insight/page/open-page.ts'

let browser: Browser
let served: Listening
const logins = protectLogin({
  secret: 'a secret of the tests',
  backend: memoryBackend(),
  account: { challenge: { limit: 1, window: '1h' } },
  challenge: { bits: 12 },
})

const work = proofOfWork({ secret: 'a secret of the tests', backend: memoryBackend(), bits: 12 })

/** A form with a task, which may be submitted before the answer is found. */
function form(nonce: string): string {
  const field = proofField({ challenge: work.challenge('browser'), nonce })
  return `<!doctype html><form method="post" action="/form"><input name="q">
    <button id="send" name="submit" value="search">Search</button>${field}</form>`
}

beforeAll(async () => {
  browser = await openBrowser()
  served = await listening(async (req, res) => {
    let body = ''
    for await (const part of req) body += part
    const fields = Object.fromEntries(new URLSearchParams(body))
    const nonce = randomBytes(16).toString('base64')
    res.setHeader('content-type', 'text/html; charset=utf-8')
    res.setHeader('cache-control', 'no-store')
    res.setHeader('content-security-policy', `default-src 'none'; form-action 'self'; script-src 'nonce-${nonce}'`)
    if (req.url === '/form') {
      if (req.method === 'GET') return res.end(form(nonce))
      const isVerified = await work.verify(fields.proof, 'browser')
      return res.end(`<p id="answer">${fields.submit} ${fields.q} ${isVerified}</p>`)
    }
    const request = { account: 'ada', address: req.socket.remoteAddress, proof: fields.proof }
    const attempt = await logins.attempt(request)
    if (attempt.outcome !== 'challenge' || !attempt.challenge) return res.end(`<p id="answer">${fields.submit}</p>`)
    res.statusCode = 403
    return res.end(proofPage({ challenge: attempt.challenge, fields: { submit: 'ada & co', ...fields }, nonce }))
  })
})
afterAll(async () => {
  await browser.close()
  await served.stop()
  logins.close()
  work.close()
})

test('Chromium solves the page under a strict content security policy, and posts the form again', async () => {
  await logins.attempt({ account: 'ada', address: '127.0.0.1' })
  const { page, faults } = await openPage(browser, served.url)
  expect(await page.locator('#answer').textContent({ timeout: 15_000 })).toBe('ada & co')
  expect(faults).toEqual([])
  await page.context().close()
})

test.each(['at once', 'later'])(
  'a form with a task that is submitted %s sends the answer, and its button',
  async (when) => {
    const { page, faults } = await openPage(browser, `${served.url}form`)
    await page.locator('input[name="q"]').fill('tea')
    if (when === 'later') await page.locator('[name=proof][value]').waitFor({ state: 'attached' })
    await page.locator('#send').click()
    expect(await page.locator('#answer').textContent({ timeout: 15_000 })).toBe('search tea true')
    expect(faults).toEqual([])
    await page.context().close()
  },
)

test('without JavaScript, the page says what is missing', async () => {
  const { page } = await openPage(browser, served.url, { javaScriptEnabled: false })
  expect(await page.locator('noscript').textContent({ timeout: 15_000 })).toContain('needs JavaScript')
  await page.context().close()
})
