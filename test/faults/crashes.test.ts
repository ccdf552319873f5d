import { crashes } from './rows/crashes.ts'
import { testGroup } from './test-group.ts'

testGroup(crashes)
