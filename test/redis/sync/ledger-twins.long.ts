import { compareTwins } from './twin-batches.ts'

compareTwins({ takes: 200_000, most: 60 })
