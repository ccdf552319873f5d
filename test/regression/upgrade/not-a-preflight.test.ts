import { expect, test } from '@jest/globals'
import { handshake, UpgradeSite } from '../../sockets/upgrade-site.ts'

test('an upgrade that looks like a preflight is counted, and holds a permit', async () => {
  const site = await UpgradeSite.of({ inflightLimit: { limit: 1 }, rateLimit: { limit: 9, window: '1m' } })
  const preflight = handshake({ Origin: 'https://page.test', 'Access-Control-Request-Method': 'GET' }, 'OPTIONS')
  await site.open(preflight)
  expect(site.watcher.held).toBe(1)
  expect(await site.answer(preflight)).toMatch(/^HTTP\/1.1 503 /)
  await site.close()
})
