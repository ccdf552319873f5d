import { describe, test } from 'node:test'
import { adapterContract, overridesContract } from '@sluice/testkit'
import { contractApp } from '../contract-app.ts'
import { layeredApp } from '../layered-app.ts'
import { platforms } from '../nest-app.ts'

for (const platform of platforms) {
  describe(`Nest ${process.env.NEST} on ${platform}`, () => {
    adapterContract({ describe, test }, (description) => contractApp(platform, description), {
      without: ['error-handlers'],
    })
    overridesContract({ describe, test }, (description) => layeredApp(platform, description))
  })
}
