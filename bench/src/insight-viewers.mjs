// Viewers of a page, in a process of their own: each reads its stream. Tells how many bytes came whenever it is asked.
import { get } from 'node:http'
import { childOptions } from './child.mjs'

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
