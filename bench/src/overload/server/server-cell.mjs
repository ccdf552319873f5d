// A server of one contender, with workers or CPU work behind it.
import { childOptions } from '../../run/child.mjs'
import { openContender } from './contenders.mjs'
import { ServerHost } from './server-host.mjs'
import { cpuService, workerService } from './service.mjs'

const { contender, service, settings } = childOptions()
const host = new ServerHost()
const behind = service.cpuMs === undefined ? workerService(service, host.elapsedMs) : cpuService(service)
const port = await openContender(contender, (_req, res) => behind.serve(() => res.end('done')), {
  ...settings,
  watch: host.watch,
})
host.run(port, () => behind.held)
