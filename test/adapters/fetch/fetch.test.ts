import { getRequestListener } from '@hono/node-server'
import { describe, test } from '@jest/globals'
import { adapterContract } from '@sluice/testkit'
import { running } from '../running-app.ts'
import { fetchApp } from './fetch-app.ts'

describe('fetch handlers', () => {
  adapterContract({ describe, test }, (description) => running(getRequestListener(fetchApp(description))), {
    without: ['headers-before-limits', 'closes-connections', 'error-handlers'],
  })
})
