import { describe, test } from '@jest/globals'
import { adapterContract } from '@sluice/testkit'
import { expressApp } from './express-app.ts'
import { expressProxies } from './express-proxies.ts'
import { expressSentences } from './express-sentences.ts'
import { express4 } from './express4.ts'
import { running } from './running-app.ts'

describe('Express 4', () => {
  adapterContract({ describe, test }, (description) => running(expressApp(express4(), description)))
  expressSentences(express4)
  expressProxies(express4)
})
