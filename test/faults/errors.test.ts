import { errors } from './rows/errors.ts'
import { testGroup } from './test-group.ts'

testGroup(errors)
