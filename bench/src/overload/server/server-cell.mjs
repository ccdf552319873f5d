// A server of one contender, with workers or CPU work behind it, event streams at `/stream`, and no work at `/open`.
import { childOptions } from '../../run/child.mjs'
import { openContender } from './contenders.mjs'
import { ServerHost } from './server-host.mjs'
import { pauseEvery, serviceOf } from './service.mjs'

const { contender, service, settings } = childOptions()
const host = new ServerHost()
const behind = serviceOf(service, host.elapsedMs)

const handle = (req, res) => {
  if (req.url === '/open') return res.end()
  if (req.url === '/stream') res.writeHead(200, { 'content-type': 'text/event-stream' }).write('data: open\n\n')
  else behind.serve(() => res.end('done'))
}

const port = await openContender(contender, handle, { ...settings, watch: host.watch })
host.run(port, { held: () => behind.held, onStart: () => pauseEvery(service) })
