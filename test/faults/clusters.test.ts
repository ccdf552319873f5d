import { clusters, movedSlots } from './rows/clusters.ts'
import { testGroup } from './test-group.ts'

testGroup(clusters)
testGroup(movedSlots)
