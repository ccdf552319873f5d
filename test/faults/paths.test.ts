import { paths } from './rows/paths.ts'
import { testGroup } from './test-group.ts'

testGroup(paths)
