import { postgres } from './rows/postgres.ts'
import { testGroup } from './test-group.ts'

testGroup(postgres)
