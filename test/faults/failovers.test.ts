import { failovers } from './rows/failovers.ts'
import { testGroup } from './test-group.ts'

testGroup(failovers)
