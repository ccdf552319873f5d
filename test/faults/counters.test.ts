import { counters } from './counters/counter-rows.ts'
import { testGroup } from './test-group.ts'

testGroup(counters)
