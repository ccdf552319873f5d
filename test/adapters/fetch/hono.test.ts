import { getRequestListener } from '@hono/node-server'
import { describe, test } from '@jest/globals'
import { adapterContract } from '@sluice/testkit'
import { running } from '../running-app.ts'
import { honoApp } from './hono-app.ts'

describe('Hono 4', () => {
  adapterContract({ describe, test }, (description) => running(getRequestListener(honoApp(description).fetch)), {
    without: ['closes-connections'],
  })
})
