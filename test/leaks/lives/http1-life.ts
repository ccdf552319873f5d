import { once } from 'node:events'
import { type SeededRandom, until } from '@sluice/testkit'
import { RawClient } from '../raw-client.ts'
import { PATIENT } from './life-handlers.ts'

const requests: readonly string[] = [
  'GET / HTTP/1.1\r\nHost: a\r\n\r\n',
  'HEAD / HTTP/1.1\r\nHost: a\r\n\r\n',
  'GET / HTTP/1.0\r\n\r\n',
  'GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n',
  'POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nabcde',
  'OPTIONS / HTTP/1.1\r\nHost: a\r\n\r\n',
  'POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nab\r\n0\r\n\r\n',
  'POST / HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 3\r\n\r\nabc',
]

/** Requests whose bodies do not arrive completely. */
const incomplete: readonly string[] = [
  'POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 500000\r\n\r\nab',
  'POST / HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 3\r\n\r\n',
]

const moments: readonly ((client: RawClient, random: SeededRandom) => unknown)[] = [
  () => {},
  () => new Promise(setImmediate),
  (_client, random) => turns(random.whole(30)),
  (client, random) => Promise.race([until(() => client.heard !== ''), turns(random.whole(60))]),
]

const departures: readonly ((client: RawClient, random: SeededRandom) => unknown)[] = [
  (client) => client.leave(),
  (client) => client.socket.resetAndDestroy(),
  // half open: the client has nothing more to send, and reads for a while
  async (client, random) => {
    client.socket.end()
    await turns(random.whole(30))
    client.leave()
  },
  async (client, random) => {
    client.socket.pause()
    await turns(random.whole(30))
    client.leave()
  },
]

/** A connection with one to four requests, cut off at any byte, whose client disconnects at any moment. */
export async function http1Life(port: number, random: SeededRandom): Promise<void> {
  if (random.whole(5) === 0) return patientLife(port, random)
  const client = await RawClient.to(port)
  const all = [...requests, ...incomplete]
  const text = Array.from({ length: 1 + random.whole(4) }, () => random.pick(all)).join('')
  client.send(random.whole(2) === 0 ? text : text.slice(0, 1 + random.whole(text.length)))
  await random.pick(moments)(client, random)
  await random.pick(departures)(client, random)
  if (!client.socket.closed) await once(client.socket, 'close')
}

/** A client that sends one to three requests at once, and waits until they are answered and the server disconnects. */
async function patientLife(port: number, random: SeededRandom): Promise<void> {
  const client = await RawClient.to(port)
  const pick = (): string => random.pick(requests).replace('\r\n', `\r\n${PATIENT}: yes\r\n`)
  const text = Array.from({ length: random.whole(3) }, pick).join('')
  client.send(`${text}GET / HTTP/1.1\r\nHost: a\r\n${PATIENT}: yes\r\nConnection: close\r\n\r\n`)
  await until(() => client.socket.closed, {
    what: `an answer to a client that waits, and has sent ${JSON.stringify(text)}`,
  })
}

async function turns(count: number): Promise<void> {
  for (let turn = 0; turn < count; turn++) await new Promise(setImmediate)
}
