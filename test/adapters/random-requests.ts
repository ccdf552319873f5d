import { Agent, METHODS } from 'node:http'
import type { SeededRandom } from '@sluice/testkit'
import { askForStatus } from './ask-for-status.ts'

const AT_ONCE = 8
// CONNECT requests do not reach an application
const methods = METHODS.filter((method) => method !== 'CONNECT')
const usual = ['GET', 'GET', 'HEAD', 'POST', 'PUT', 'PATCH']
const letters = ['a', 'b', 'Z', '7', '-', '.', '~', ':', '@', ';', '*', '(', '%2F', '%61', '%E2%82%AC', '%00', '%zz']

/** Sends random requests, after one regular request of each kind. A `*` in `paths` stands for any text. */
export async function askRandomly(
  port: number,
  paths: readonly string[],
  random: SeededRandom,
  times: number,
): Promise<void> {
  const agent = new Agent({ keepAlive: true, maxSockets: AT_ONCE })
  for (const path of paths) {
    for (const method of usual) await askForStatus(port, { method, path: path.replace(/\*/g, 'x') }, agent)
  }
  for (let asked = 0; asked < times; asked += AT_ONCE) {
    const some = Array.from({ length: AT_ONCE }, () => ({
      method: random.pick([random.pick(usual), random.pick(methods)]),
      path: spelt(random.pick(paths), random),
    }))
    // a request that the framework leaves unanswered is not a failure of this test
    await Promise.allSettled(some.map((one) => askForStatus(port, one, agent)))
  }
  agent.destroy()
}

function spelt(path: string, random: SeededRandom): string {
  const filled = path.replace(/\*/g, () => text(random))
  switch (random.whole(8)) {
    case 0:
      return filled.toUpperCase().replace(/%[0-9A-F]{2}/g, (code) => code.toLowerCase())
    case 1:
      return filled.replace(/[a-z]/, (letter) => `%${letter.charCodeAt(0).toString(16)}`)
    case 2:
      return `${filled}/`
    case 3:
      return `${filled}?${text(random)}=${text(random)}`
    case 4:
      return filled.replace(/\//, '//')
    case 5:
      return `http://${text(random).replace(/[^a-z]/gi, '')}a.example${filled}`
    case 6:
      return `${filled}/${text(random)}`
    default:
      return filled
  }
}

function text(random: SeededRandom): string {
  return Array.from({ length: 1 + random.whole(5) }, () => random.pick(letters)).join('')
}
