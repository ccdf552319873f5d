// Viewers of a page in a separate process, each reading its stream. Reports the received bytes on each message.
import { get } from 'node:http'
import { childOptions } from '../run/child.mjs'

const { viewers, port } = childOptions()
let received = 0
let opened = 0
for (let viewer = 0; viewer < viewers; viewer++) {
  get({ port, path: '/stream', host: '127.0.0.1', headers: { host: `localhost:${port}` }, agent: false }, (res) => {
    if (res.statusCode !== 200) throw new Error(`the stream answered ${res.statusCode}`)
    res.on('data', (bytes) => {
      received += bytes.length
    })
    if (++opened === viewers) process.send({ opened })
  })
}
if (viewers === 0) process.send({ opened })
process.on('message', () => process.send({ received }))
