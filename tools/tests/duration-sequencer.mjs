// Slow test files first, and shards of equal length: otherwise the other workers wait for the last file.
import { readFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import Sequencer from '@jest/test-sequencer'
import { root } from '../root-command.mjs'

/**
 * Seconds of slow files in an earlier run of `npm test`, which writes those of its own run to
 * .artifacts/test-durations.json: copy them when they have changed a lot.
 */
export const recordedSeconds = JSON.parse(readFileSync(join(root, 'tools/tests/test-durations.json'), 'utf8'))
const OF_OTHERS = 1

export default class DurationSequencer extends Sequencer {
  shard(tests, { shardIndex, shardCount }) {
    const shards = Array.from({ length: shardCount }, () => ({ tests: [], seconds: 0 }))
    for (const test of this.sort(tests)) {
      const shortest = shards.reduce((one, other) => (other.seconds < one.seconds ? other : one))
      shortest.tests.push(test)
      shortest.seconds += secondsOf(test)
    }
    return shards[shardIndex - 1].tests
  }

  sort(tests) {
    return [...tests].sort((one, other) => secondsOf(other) - secondsOf(one) || (one.path < other.path ? -1 : 1))
  }
}

function secondsOf({ path }) {
  return recordedSeconds[relative(root, path)] ?? OF_OTHERS
}
