import assert from 'node:assert/strict'
import { afterEach, beforeEach, describe, jest, test } from '@jest/globals'
import { rateLimit } from '@sluice/express'
import { collapseDetector } from '@sluice/http'
import { createInsight } from '@sluice/insight'
import { recordCollapsedClients } from '@sluice/limiter-core/http'
import express from 'express'
import request from 'supertest'

const warnings: { readonly message: string; readonly code: string }[] = []

beforeEach(() => {
  warnings.length = 0
  jest.spyOn(process, 'emitWarning').mockImplementation(((message: string, { code }: { code: string }) => {
    warnings.push({ message, code })
  }) as typeof process.emitWarning)
})

afterEach(() => {
  jest.restoreAllMocks()
  collapseDetector.reset()
  recordCollapsedClients(undefined)
})

/** Sends 200 requests of 100 clients, as a proxy at the address of the test would. */
async function sendAsProxy(options: Parameters<typeof rateLimit>[0]): Promise<void> {
  const app = express().use(rateLimit(options))
  app.get('/', (_req, res) => {
    res.send('ok')
  })
  const server = app.listen(0)
  try {
    for (let client = 0; client < 200; client++) {
      await request(server)
        .get('/')
        .set('x-forwarded-for', `198.51.100.${client % 100}`)
    }
  } finally {
    server.close()
  }
}

function collapses(): readonly string[] {
  return warnings.filter(({ code }) => code === 'SLUICE_CLIENTS_COLLAPSED').map(({ message }) => message)
}

describe('a proxy that is not trusted, in front of an application', () => {
  test('is named once, and shown on the live page', async () => {
    const insight = createInsight()
    assert.equal(insight.snapshot().collapsed, undefined)
    await sendAsProxy({ limit: 10_000, window: '1m', observers: [insight] })
    assert.equal(collapses().length, 1)
    assert.match(collapses()[0], /set trust: 'nginx'/)
    const { collapsed } = insight.snapshot()
    assert.equal(collapsed?.trust, "'nginx'")
    assert.match(collapsed?.reason ?? '', /^about \d+ forwarded addresses are behind it$/)
    insight.close()
  })

  test('is not named once it is trusted', async () => {
    await sendAsProxy({ limit: 10_000, window: '1m', trust: 'nginx' })
    assert.deepEqual(collapses(), [])
  })
})
