import { test } from '@jest/globals'
import { numberOfRuns } from '@sluice/testkit'
import { liveAtRandom, scenes } from './lives/random-lives.ts'

test.each(scenes.map((scene) => [scene.name, scene] as const))(
  '%s holds no permit and counts exactly after 100 random client connections',
  async (_name, scene) => {
    await liveAtRandom(scene, numberOfRuns(100))
  },
  180_000,
)
