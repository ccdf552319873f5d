import { clusters } from './rows/clusters.ts'
import { testGroup } from './test-group.ts'

testGroup(clusters)
