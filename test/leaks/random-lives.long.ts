import { expect, test } from '@jest/globals'
import { liveAtRandom, scenes } from './lives/random-lives.ts'

test.each(scenes.map((scene) => [scene.name, scene] as const))(
  '%s holds no permit a second after 2,500 random client connections',
  async (_name, scene) => {
    expect(await liveAtRandom(scene, 2_500)).toBeLessThan(1_000)
  },
  600_000,
)
