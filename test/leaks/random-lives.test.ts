import { test } from '@jest/globals'
import { liveAtRandom, scenes } from './lives/random-lives.ts'

test.each(scenes.map((scene) => [scene.name, scene] as const))(
  '%s holds no place after 100 lives of its clients',
  async (_name, scene) => {
    await liveAtRandom(scene, 100)
  },
  180_000,
)
