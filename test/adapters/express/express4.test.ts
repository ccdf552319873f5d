import { describe, test } from '@jest/globals'
import { adapterContract } from '@sluice/testkit'
import { running } from '../running-app.ts'
import { expressApp } from './express-app.ts'
import { expressCases } from './express-cases.ts'
import { expressProxies } from './express-proxies.ts'
import { express4 } from './express4.ts'

describe('Express 4', () => {
  adapterContract({ describe, test }, (description) => running(expressApp(express4(), description)))
  expressCases(express4)
  expressProxies(express4)
})
