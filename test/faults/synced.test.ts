import { synced } from './rows/synced.ts'
import { testGroup } from './test-group.ts'

testGroup(synced)
