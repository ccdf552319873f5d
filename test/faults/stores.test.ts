import { storeGroups } from './stores/store-groups.ts'
import { testGroup } from './test-group.ts'

for (const group of storeGroups) testGroup(group)
