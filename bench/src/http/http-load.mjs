// Sends requests over connections that stay open, from a process of its own, so that no server pays for the client.
import { Agent, get } from 'node:http'
import { childOptions } from '../run/child.mjs'

const connections = 16

childOptions()
const agents = new Map()
process.on('message', async ({ port, amount, status }) => {
  if (!agents.has(port)) agents.set(port, new Agent({ keepAlive: true, maxSockets: connections }))
  let left = amount
  try {
    const client = async () => {
      while (left-- > 0) await requestOf(port, status)
    }
    await Promise.all(Array.from({ length: Math.min(connections, amount) }, client))
    process.send({})
  } catch (error) {
    process.send({ failed: String(error) })
  }
})
process.send({ ready: true })

function requestOf(port, status) {
  return new Promise((resolve, reject) => {
    const options = { host: '127.0.0.1', port, agent: agents.get(port) }
    const request = get(options, (response) => {
      if (status !== undefined && response.statusCode !== status) reject(new Error(`answered ${response.statusCode}`))
      response.resume().on('end', resolve).on('error', reject)
    })
    request.on('error', reject)
  })
}
