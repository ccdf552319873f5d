import { afterAll, beforeAll } from '@jest/globals'
import { Fleet } from './fleet.ts'
import { storeGroups } from './stores/store-groups.ts'
import { testGroup } from './test-group.ts'

let fleet: Fleet
beforeAll(() => {
  fleet = Fleet.start()
})
afterAll(() => fleet.stop())

for (const group of storeGroups(() => fleet)) testGroup(group)
