import { stalls } from './rows/stalls.ts'
import { testGroup } from './test-group.ts'

testGroup(stalls)
