import { compareTwins } from './twin-batches.ts'

compareTwins({ takes: 2_000, most: 4 })
