import type { PolicyInput } from '@sluice/limiter-core'
import { HalfLimitClients } from '../half-limit-clients.ts'

const plans: readonly PolicyInput[] = JSON.parse(process.argv[1])
const hours = Number(process.argv[2])

const alone = new HalfLimitClients(plans)
const flooded = new HalfLimitClients(plans)
flooded.flood()
const denied = (clients: HalfLimitClients) => Array.from({ length: hours }, () => clients.deniedInNextHour())
console.log(JSON.stringify({ alone: denied(alone), flooded: denied(flooded) }))
