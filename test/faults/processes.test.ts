import { processes } from './rows/processes.ts'
import { testGroup } from './test-group.ts'

testGroup(processes)
